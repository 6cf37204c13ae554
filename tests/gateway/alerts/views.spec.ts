import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { tellAlerts } from '#lib/control/alerts/raise';
import { composeMail } from '#lib/control/mail/compose';
import { listAlerts, setAlerts } from '#lib/control/operations/alert/operations';
import { removeMember } from '#lib/control/operations/member/operations';
import { ask } from '#lib/control/operations/run';
import {
  alertOnView,
  createView,
  deleteView,
  endViewAlert,
  listViews,
  subscribeView,
  unsubscribeView,
} from '#lib/control/operations/view/operations';
import { countOneView } from '#lib/control/views/count';
import { mailOneView } from '#lib/control/views/weekly';
import type { Role } from '#lib/core/role';
import { systemClock } from '#lib/platform/clock';
import { createIds } from '#lib/platform/ids';
import { controlHost, createWorkspace, operate, setWorkspace } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const host = controlHost(db);
const operator = { kind: 'operator', name: 'test', address: null } as const;
const dayMs = 86_400_000;

/** Counts every view that is due. */
async function countAll(nowMs = Date.now()) {
  while (await countOneView(db, () => nowMs));
}

/** Writes every weekly mail that is due. */
async function mailAll(nowMs: number) {
  while ((await mailOneView(db, nowMs)) !== null);
}

async function place(timeZone = 'UTC') {
  const { id, slug } = await createWorkspace(db, { name: 'Views', timeZone });
  const member = async (role: Role) => {
    const userId = randomUUID();
    const email = `${userId}@example.com`;
    await db.prisma.user.create({ data: { id: userId, email, name: role } });
    await db.prisma.member.create({ data: { workspaceId: id, userId, role } });
    const actor = { kind: 'user', userId, operator: false, address: null } as const;
    const asked = (input: object) => ({ actor, workspace: slug, input });
    return {
      userId,
      email,
      save: (input: object) =>
        ask(host, createView, asked({ page: 'logs', name: randomUUID(), shared: true, ...input })),
      subscribe: (view: string) => ask(host, subscribeView, asked({ id: view })),
      unsubscribe: (view: string) => ask(host, unsubscribeView, asked({ id: view })),
      alert: (view: string, over: number, window = 'hour') =>
        ask(host, alertOnView, asked({ id: view, over, window })),
      endAlert: (view: string) => ask(host, endViewAlert, asked({ id: view })),
      remove: (view: string) => ask(host, deleteView, asked({ id: view })),
      list: async () => (await ask(host, listViews, asked({}))).data,
    };
  };
  const mailsTo = async (email: string) =>
    db.prisma.mail.findMany({ where: { recipient: email, kind: 'view' }, orderBy: { id: 'asc' } });
  const letterOf = async (email: string) => {
    const mail = (await mailsTo(email)).at(-1);
    const facts = (mail?.facts ?? {}) as Record<string, unknown>;
    const composer = { db, keyPepper: 'pepper', publicUrl: 'https://gateway.example' };
    return composeMail(composer, { id: '', kind: 'view', recipient: email, facts });
  };
  /** A call of the workspace at a moment. */
  const call = async (atMs: number, changed: object = {}) => {
    const ids = createIds({ ...systemClock, now: () => atMs });
    await db.prisma.call.create({
      data: {
        id: ids.newId() ?? '',
        at: new Date(atMs),
        workspaceId: id,
        keyId: id,
        family: 'chat',
        operation: 'chat.create',
        requestedModel: 'a/b',
        answeringModel: 'a/b',
        provider: 'one',
        status: 200,
        streamed: false,
        latencyMs: 100,
        overheadMs: 0.5,
        endReason: 'completed',
        usageSource: 'reported',
        flags: [],
        usage: { input: 10, output: 5 },
        lines: [],
        costNano: 500_000_000n,
        holdNano: 0n,
        overHoldNano: 0n,
        attempts: [],
        ...changed,
      },
    });
  };
  const alerts = async () =>
    (await operate(db, listAlerts, { workspace: slug })).data.filter(({ kind }) => kind === 'view');
  return { id, slug, member, mailsTo, letterOf, call, alerts };
}

/** The next Monday, nine in the morning by UTC. */
function nextMonday(): number {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const days = (8 - new Date(today).getUTCDay()) % 7 || 7;
  return today + days * dayMs + 9 * 3_600_000;
}

describe('a weekly mail about a saved view (contract: control-plane/view-mail)', () => {
  it('says what changed against the week before, to each subscriber, on Monday at eight', async () => {
    const { member, mailsTo, letterOf, call, slug } = await place();
    const [ann, bob] = [await member('owner'), await member('viewer')];
    const { id } = await ann.save({ name: 'Chat', query: 'family=chat&status=2xx&sort=-cost&last=24h' });
    await ann.subscribe(id);
    await ann.subscribe(id);
    expect((await bob.subscribe(id)).weekly).toBe(true);
    const monday = nextMonday();
    for (let at = 0; at < 3; at += 1) await call(monday - 2 * dayMs - at, { latencyMs: 100 * (at + 1) });
    await call(monday - 2 * dayMs - 9, { status: 500 });
    for (let at = 0; at < 2; at += 1) await call(monday - 9 * dayMs - at);
    await mailAll(Date.now());
    await mailAll(monday - 2 * 3_600_000);
    expect(await mailsTo(ann.email)).toEqual([]);
    await mailAll(monday);
    const letter = await letterOf(ann.email);
    expect(letter?.text).toContain('Calls: 3 (+50%, before: 2)');
    expect(letter?.text).toContain('Spend: $1.50 (+50%, before: $1.00)');
    expect(letter?.text).toContain('Tokens: 45 (+50%, before: 30)');
    expect(letter?.text).toContain('Errors: 0 (before: 0)');
    expect(letter?.text).toContain('Latency p95: 300 ms (+200%, before: 100 ms)');
    expect(letter?.html).toContain('<td');
    const link = new URL(letter?.link ?? '');
    expect(link.pathname).toBe(`/${slug}/logs`);
    expect(link.searchParams.get('family')).toBe('chat');
    expect(link.searchParams.get('last')).toBeNull();
    expect(Date.parse(link.searchParams.get('to') ?? '')).toBe(monday - 9 * 3_600_000);
    expect(letter?.text).toContain(`https://gateway.example/${slug}/alerts#saved-views`);
    expect(await mailsTo(bob.email)).toHaveLength(1);
  });

  it('is written once a week for each reader, also by many processes and after a failure in the middle', async () => {
    const { member, mailsTo } = await place();
    const ann = await member('owner');
    const { id } = await ann.save({ query: 'status=5xx' });
    await ann.subscribe(id);
    const monday = nextMonday();
    // The outbox takes nothing, after the week was noted: nothing of it may stay.
    await db.pool.query("ALTER TABLE mail ADD CONSTRAINT no_views CHECK (kind <> 'view') NOT VALID");
    try {
      await expect(mailAll(monday)).rejects.toThrow(id);
    } finally {
      await db.pool.query('ALTER TABLE mail DROP CONSTRAINT no_views');
    }
    expect(await mailsTo(ann.email)).toEqual([]);
    await Promise.all(Array.from({ length: 6 }, () => mailAll(monday)));
    expect(await mailsTo(ann.email)).toHaveLength(1);
    await mailAll(monday + 6 * dayMs);
    expect(await mailsTo(ann.email)).toHaveLength(1);
    await mailAll(monday + 7 * dayMs);
    expect(await mailsTo(ann.email)).toHaveLength(2);
  });

  it('comes by the time zone of the workspace', async () => {
    const { slug, member, mailsTo } = await place('Pacific/Auckland');
    const ann = await member('owner');
    const { id } = await ann.save({ page: 'usage', query: 'model=a/b' });
    await ann.subscribe(id);
    // Thirteen or twelve hours earlier than by UTC.
    await mailAll(nextMonday() - 11 * 3_600_000);
    expect(await mailsTo(ann.email)).toHaveLength(1);
    await setWorkspace(db, { workspace: slug, timeZone: 'America/Los_Angeles' });
    await mailAll(nextMonday() + dayMs);
    expect(await mailsTo(ann.email)).toHaveLength(1);
  });

  it('ends with the subscription, the view and the membership, also if it was queued before', async () => {
    const { slug, member, mailsTo, letterOf } = await place();
    const [ann, bob, cem] = [await member('owner'), await member('viewer'), await member('viewer')];
    const [first, second] = [await ann.save({}), await ann.save({})];
    for (const one of [ann, bob, cem]) await one.subscribe(first.id);
    await ann.subscribe(second.id);
    const monday = nextMonday();
    await mailAll(monday);
    expect(await letterOf(bob.email)).not.toBeNull();
    await bob.unsubscribe(first.id);
    const trail = await db.prisma.audit.findMany({
      where: { subject: first.id, actor: bob.userId },
      orderBy: { id: 'asc' },
    });
    expect(trail).toMatchObject([
      { action: 'view.subscribe', before: { weekly: false }, after: { weekly: true } },
      { action: 'view.unsubscribe', before: { weekly: true }, after: { weekly: false } },
    ]);
    await ask(host, removeMember, { actor: operator, workspace: slug, input: { member: cem.email } });
    expect(await letterOf(bob.email)).toBeNull();
    expect(await letterOf(cem.email)).toBeNull();
    await ann.remove(second.id);
    await mailAll(monday + 7 * dayMs);
    expect(await mailsTo(bob.email)).toHaveLength(1);
    expect(await mailsTo(cem.email)).toHaveLength(1);
    expect(await mailsTo(ann.email)).toHaveLength(3);
  });

  it('is only for users, and never about a private view of another user', async () => {
    const [one, other] = [await place(), await place()];
    const [ann, bob] = [await one.member('developer'), await one.member('owner')];
    const stranger = await other.member('owner');
    const own = await ann.save({ shared: false });
    await expect(bob.subscribe(own.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(stranger.subscribe(own.id)).rejects.toMatchObject({ code: 'not_found' });
    const asked = { actor: operator, workspace: one.slug, input: { id: (await bob.save({})).id } };
    await expect(ask(host, subscribeView, asked)).rejects.toMatchObject({ code: 'invalid_body' });
    const broken = await bob.save({ query: 'status=oops' });
    await expect(bob.subscribe(broken.id)).rejects.toMatchObject({ code: 'invalid_body' });
  });
});

describe('an alert on a view (contract: control-plane/view-alerts)', () => {
  it('begins when the view has more calls than its number, and ends when it has not', async () => {
    const { id: workspaceId, member, call, alerts } = await place();
    const ann = await member('owner');
    await db.prisma.webhook.create({
      data: { id: randomUUID(), workspaceId, url: 'https://x', secret: 's' },
    });
    const { id } = await ann.save({ name: 'Failures', query: 'status=5xx&last=30d' });
    await ann.alert(id, 2);
    await call(Date.now() - 2 * 3_600_000, { status: 500 });
    for (const status of [500, 503, 200, 200]) await call(Date.now() - 60_000, { status });
    await countAll();
    await tellAlerts(db.pool, Date.now());
    expect(await alerts()).toEqual([]);
    await call(Date.now() - 1_000, { status: 502 });
    // Counted again a minute later, not before.
    await countAll();
    await tellAlerts(db.pool, Date.now());
    expect(await alerts()).toEqual([]);
    await Promise.all([1, 2, 3].map(() => countAll(Date.now() + 61_000)));
    await Promise.all([1, 2, 3].map(() => tellAlerts(db.pool, Date.now())));
    expect(await alerts()).toMatchObject([
      { title: 'The view “Failures” has more than 2 calls', page: 'logs?status=5xx&last=1h', endedAt: null },
    ]);
    const [event, ...others] = await db.prisma.webhookDelivery.findMany({ where: { workspaceId } });
    expect(others).toEqual([]);
    expect(JSON.parse(event?.body ?? '')).toMatchObject({
      type: 'alert.view',
      data: {
        view: id,
        name: 'Failures',
        page: 'logs',
        query: 'status=5xx&last=30d',
        over: 2,
        window: 'hour',
      },
    });
    expect(await db.prisma.mail.count({ where: { recipient: ann.email, kind: 'alert' } })).toBe(1);
    await countAll(Date.now() + 2 * 3_600_000);
    await tellAlerts(db.pool, Date.now());
    expect((await alerts())[0]?.endedAt).not.toBeNull();
  });

  it('counts the calls of a view of usage in a day, and stops with the alert, the switch and the view', async () => {
    const { slug, member, call, alerts } = await place();
    const ann = await member('owner');
    const { id } = await ann.save({ name: 'Use', page: 'usage', query: 'model=a/b&by=key' });
    expect((await ann.alert(id, 1, 'day')).alert).toEqual({ over: 1, window: 'day' });
    for (const age of [1, 5, 30]) await call(Date.now() - age * 3_600_000);
    await call(Date.now() - 1, { requestedModel: 'a/c', answeringModel: 'a/c' });
    await countAll();
    await tellAlerts(db.pool, Date.now());
    expect(await alerts()).toMatchObject([{ page: 'usage?model=a%2Fb&by=key&range=24h', endedAt: null }]);
    await operate(db, setAlerts, { workspace: slug, view: false });
    await tellAlerts(db.pool, Date.now());
    expect((await alerts())[0]?.endedAt).not.toBeNull();
    await operate(db, setAlerts, { workspace: slug, view: true });
    expect((await ann.endAlert(id)).alert).toBeNull();
    const { rows } = await db.pool.query('SELECT alert_calls FROM saved_view WHERE id = $1', [id]);
    expect(rows).toEqual([{ alert_calls: null }]);
  });

  it('is set by admins, on shared views of their workspace, at most 20 of them', async () => {
    const [one, other] = [await place(), await place()];
    const [ann, dev] = [await one.member('admin'), await one.member('developer')];
    const shared = await dev.save({});
    await expect(dev.alert(shared.id, 1)).rejects.toMatchObject({ code: 'permission_denied' });
    await expect(ann.alert((await ann.save({ shared: false })).id, 1)).rejects.toMatchObject({
      code: 'invalid_body',
    });
    await expect((await other.member('owner')).alert(shared.id, 1)).rejects.toMatchObject({
      code: 'not_found',
    });
    const views = await Promise.all(Array.from({ length: 21 }, () => ann.save({})));
    const set = await Promise.allSettled(views.map(({ id }) => ann.alert(id, 1)));
    expect(set.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    const [kept] = (await ann.list()).filter(({ alert }) => alert !== null);
    expect((await ann.alert(kept?.id ?? '', 5)).alert).toEqual({ over: 5, window: 'hour' });
  });
});
