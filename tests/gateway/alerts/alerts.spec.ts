import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { webhookEvents } from '#lib/control/alerts/events';
import { tellAlerts } from '#lib/control/alerts/raise';
import { RateWatch } from '#lib/control/alerts/rates';
import { composeMail } from '#lib/control/mail/compose';
import { listAlerts, setAlerts } from '#lib/control/operations/alert/operations';
import { newRowId } from '#lib/platform/data/row-id';
import {
  addMember,
  createKey,
  createUser,
  createWorkspace,
  operate,
  setKey,
  setWorkspace,
} from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const tell = () => tellAlerts(db.pool, Date.now());

/** A workspace with an owner, a viewer and a webhook. */
async function newWorkspace() {
  const { id, slug } = await createWorkspace(db, { name: 'Alerts' });
  const [owner, viewer] = [`${randomUUID()}@example.com`, `${randomUUID()}@example.com`];
  for (const [email, role] of [
    [owner, 'owner'],
    [viewer, 'viewer'],
  ]) {
    await createUser(db, { email, password: 'long enough' });
    await addMember(db, { workspace: slug, email, role });
  }
  await db.prisma.webhook.create({
    data: { id: randomUUID(), workspaceId: id, url: 'https://x', secret: 's' },
  });
  const told = async () => (await operate(db, listAlerts, { workspace: slug })).data;
  const mails = () => db.prisma.mail.findMany({ where: { recipient: owner }, orderBy: { id: 'asc' } });
  const events = () =>
    db.prisma.webhookDelivery.findMany({ where: { workspaceId: id }, orderBy: { id: 'asc' } });
  return { id, slug, owner, viewer, told, mails, events };
}

/** All that the key has spent, whatever it was before. */
const spend = async (keyId: string, nano: number) => {
  await db.pool.query('DELETE FROM spend_minute WHERE key_id = $1', [keyId]);
  await db.pool.query(`INSERT INTO spend_minute VALUES ($1, date_trunc('minute', now()), $2)`, [keyId, nano]);
};

const usage = (workspaceId: string, model: string, figures: { calls: number; failed: number }) =>
  db.pool.query(
    `INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider, calls, provider_errors)
     VALUES ($1, ledger_quarter(now()), $1, $2, 'acme', $3, $4)`,
    [workspaceId, model, figures.calls, figures.failed],
  );

/** A model with one offer, at "acme"; its id. */
async function retiring(days: { model?: string; offer?: string; withdrawn?: boolean; provider?: string }) {
  const id = `acme/${randomUUID()}`;
  const { provider = 'acme' } = days;
  await db.prisma.provider.upsert({
    where: { id: provider },
    create: { id: provider, name: provider, families: {} },
    update: {},
  });
  await db.prisma.model.create({
    data: { id, name: 'M', contextTokens: 1, maxOutputTokens: 1, retires: days.model ?? null },
  });
  await db.prisma.offer.create({
    data: {
      id: randomUUID(),
      modelId: id,
      providerId: provider,
      upstreamModel: 'm',
      retires: days.offer ?? null,
      withdrawnAt: days.withdrawn ? new Date() : null,
    },
  });
  return id;
}

afterEach(async () => {
  for (const { event, body } of await db.prisma.webhookDelivery.findMany()) {
    const { type, data } = JSON.parse(body);
    expect(type).toBe(event);
    expect(webhookEvents[type]?.data.strict().parse(data)).toEqual(data);
  }
});

describe('alerts (contract: control-plane/alerts)', () => {
  it('tell once that automatic top-ups are paused and why, to webhooks, until they are resumed', async () => {
    const { id, told, mails, events } = await newWorkspace();
    await db.pool.query(
      `INSERT INTO auto_top_up (workspace_id, enabled, threshold_nano, cents, month_cents, paused_at, paused_reason, paused_detail)
       VALUES ($1, true, 0, 500, 500, now(), 'declined', 'insufficient_funds')`,
      [id],
    );
    await tell();
    await tell();
    const [alert, ...others] = await told();
    expect(others).toEqual([]);
    expect(alert).toMatchObject({ kind: 'auto_top_up_paused', page: 'billing', endedAt: null });
    expect(alert?.text).toContain('declined (insufficient funds)');
    expect(await events()).toHaveLength(1);
    // It has a mail of its own, which is queued where the pause is made.
    expect(await mails()).toEqual([]);
    await db.pool.query(
      'UPDATE auto_top_up SET paused_at = NULL, paused_reason = NULL WHERE workspace_id = $1',
      [id],
    );
    await tell();
    expect((await told())[0]?.endedAt).not.toBeNull();
  });

  it('report a cap at 80% and at 100%, once each, by mail to owners and to webhooks', async () => {
    const { slug, owner, viewer, told, mails, events } = await newWorkspace();
    const { id } = await createKey(db, { workspace: slug, name: 'web', dailyCap: '1' });
    await spend(id, 799_999_999);
    await tell();
    expect(await told()).toEqual([]);
    await spend(id, 800_000_000);
    await Promise.all([tell(), tell(), tell()]);
    expect(await told()).toMatchObject([
      { kind: 'limit', title: 'The key web has used 80% of its daily cap', endedAt: null },
    ]);
    await spend(id, 1_000_000_000);
    await tell();
    await tell();
    expect((await told()).map(({ title }) => title)).toEqual([
      ...['The key web has reached its daily cap', 'The key web has used 80% of its daily cap'],
    ]);
    expect(await db.prisma.mail.count({ where: { recipient: viewer } })).toBe(0);
    const [mail] = await mails();
    expect(await mails()).toHaveLength(2);
    const facts = mail?.facts as Record<string, unknown>;
    const host = { db, keyPepper: 'pepper', publicUrl: 'https://gateway.example' };
    const letter = await composeMail(host, { id: '', kind: 'alert', recipient: owner, facts });
    expect(letter).toMatchObject({ subject: 'Alerts: The key web has used 80% of its daily cap' });
    expect(letter?.link).toBe(`https://gateway.example/${slug}/keys/${id}`);
    const said = (await events()).map(({ body }) => JSON.parse(body));
    expect(said).toMatchObject([
      { type: 'alert.limit', workspace: slug, data: { level: 80, cap: '1' } },
      { type: 'alert.limit', data: { level: 100 } },
    ]);
  });

  it('report a limit of which a minute used 80%, and do not end while its use is unknown', async () => {
    const { id, slug, told } = await newWorkspace();
    await setWorkspace(db, { workspace: slug, rpm: 10 });
    await usage(id, 'acme/busy', { calls: 3, failed: 0 });
    const watch = new RateWatch(db.pool, async () => []);
    const beganMs = Date.now();
    expect(await watch.find(beganMs)).toBeNull();
    await db.pool.query('UPDATE usage_quarter SET calls = 11 WHERE workspace_id = $1', [id]);
    await tellAlerts(db.pool, beganMs, await watch.find(beganMs + 60_000));
    expect(await told()).toMatchObject([
      { title: 'The workspace has used 80% of its limit of requests a minute', endedAt: null },
    ]);
    await tell();
    expect(await told()).toMatchObject([{ endedAt: null }]);
    await tellAlerts(db.pool, beganMs, await watch.find(beganMs + 120_000));
    expect(await told()).toMatchObject([{ endedAt: expect.any(String) }]);
  });

  it('report bad answers above a share of those of a day that were rated, from a number of them on', async () => {
    const { id, slug, told, mails, events } = await newWorkspace();
    const rate = async (score: number, hoursAgo: number, count: number) => {
      await db.prisma.callFeedback.createMany({
        data: Array.from({ length: count }, () => ({
          ...{ callId: randomUUID(), workspaceId: id, keyId: id, model: 'm', provider: 'p', score },
          ...{ givenBy: 'api-key', givenAt: new Date() },
          at: new Date(Date.now() - hoursAgo * 3_600_000),
        })),
      });
    };
    const given = { badPercent: 25, badRated: 8 };
    expect(await operate(db, setAlerts, { workspace: slug, ...given })).toMatchObject(given);
    await rate(0.49, 25, 50);
    await rate(0.49, 2, 2);
    await rate(0.5, 1, 5);
    await tell();
    expect(await told()).toEqual([]);
    await rate(1, 1, 1);
    await tell();
    // Exactly a quarter is not more than a quarter.
    expect(await told()).toEqual([]);
    await rate(0, 1, 1);
    await Promise.all([tell(), tell(), tell()]);
    expect(await told()).toMatchObject([
      { kind: 'bad_answers', page: 'logs?feedback=bad&last=24h', endedAt: null },
    ]);
    expect(JSON.parse((await events())[0]?.body ?? '').data).toEqual({ rated: 9, bad: 3, percent: 25 });
    expect([await mails(), await events()].map(({ length }) => length)).toEqual([1, 1]);
    await operate(db, setAlerts, { workspace: slug, badPercent: 50 });
    await tell();
    expect((await told())[0]?.endedAt).not.toBeNull();
    const wrong = operate(db, setAlerts, { workspace: slug, badPercent: 100 });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_body', field: 'badPercent' });
  });

  it('report a limit of the workspace once, however many calls it refuses', async () => {
    const { id, told, mails, events } = await newWorkspace();
    for (let call = 0; call < 6; call += 1) {
      await db.pool.query(
        `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, error_code, streamed, latency_ms, overhead_ms,
           end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano)
         VALUES ($2, now(), $1, $1, 'chat', 'chat.create', 429, 'workspace_rpm_exceeded', false, 1, 1, 'refused', 'none', '{}', '{}', '[]',
           '[]', 0, 0, 0)`,
        [id, newRowId()],
      );
    }
    await db.pool.query(
      `INSERT INTO usage_quarter (workspace_id, quarter, key_id, model, provider, calls, limit_errors)
       VALUES ($1, ledger_quarter(now()), $1, 'm', '', 6, 6)`,
      [id],
    );
    await tell();
    await tell();
    expect(await told()).toMatchObject([
      { title: 'The workspace has reached its limit of requests a minute', endedAt: null },
    ]);
    expect([await mails(), await events()].map(({ length }) => length)).toEqual([1, 1]);
  });

  it('end when it has passed, and come back after some hours at the earliest', async () => {
    const { slug, told } = await newWorkspace();
    const { id } = await createKey(db, { workspace: slug, name: 'web', dailyCap: '1' });
    await spend(id, 900_000_000);
    await tell();
    await setKey(db, { id, dailyCap: '2' });
    await tell();
    expect((await told())[0]?.endedAt).not.toBeNull();
    await setKey(db, { id, dailyCap: '1' });
    await tell();
    expect(await told()).toHaveLength(1);
    await db.pool.query("UPDATE alert SET raised_at = now() - interval '7 hours'");
    await tell();
    expect(await told()).toHaveLength(2);
  });

  it('report a key that expires, an offer in trouble, and offers in use that retire', async () => {
    const { id, slug, told } = await newWorkspace();
    const expiresAt = new Date(Date.now() + 6 * 86_400_000).toISOString();
    await createKey(db, { workspace: slug, name: 'old', expiresAt });
    const dayIn = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const model = `acme/${randomUUID().slice(0, 8)}`;
    const byModel = await retiring({ model: dayIn(10) });
    const byOffer = await retiring({ offer: dayIn(29) });
    await retiring({ offer: dayIn(10) });
    const rest = [
      await retiring({ model: dayIn(10), offer: dayIn(31) }),
      await retiring({ offer: dayIn(-1) }),
      await retiring({ offer: dayIn(10), withdrawn: true }),
      await retiring({ offer: dayIn(10), provider: 'other' }),
    ];
    for (const used of [byModel, byOffer, ...rest]) await usage(id, used, { calls: 1, failed: 0 });
    await usage(id, model, { calls: 20, failed: 4 });
    await usage(id, 'acme/quiet', { calls: 19, failed: 19 });
    await usage(id, 'acme/well', { calls: 100, failed: 19 });
    await tell();
    expect((await told()).map(({ kind }) => kind).sort()).toEqual([
      ...['key_expiring', 'model_retiring', 'model_retiring', 'offer_trouble'],
    ]);
    const titles = (await told()).filter(({ kind }) => kind === 'model_retiring').map(({ title }) => title);
    expect(titles.sort()).toEqual([byModel, byOffer].map((one) => `acme will retire ${one} soon`).sort());
  });

  it('leave out what a workspace does not want, and workspaces that are gone', async () => {
    const { id, slug, told } = await newWorkspace();
    await operate(db, setAlerts, { workspace: slug, offer_trouble: false });
    await usage(id, 'acme/bad', { calls: 50, failed: 50 });
    await tell();
    expect(await told()).toEqual([]);
    await operate(db, setAlerts, { workspace: slug, offer_trouble: true });
    await db.prisma.workspace.update({ where: { id }, data: { deletedAt: new Date() } });
    await tell();
    expect(await db.prisma.alert.count({ where: { workspaceId: id } })).toBe(0);
  });
});
