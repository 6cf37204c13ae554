import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openPlayground } from '#lib/control/operations/playground/operations';
import { endAllSessions, endSession } from '#lib/control/operations/user/sessions';
import { checkKey } from '#lib/gateway/admission/pure/decide';
import { loadKey } from '#lib/gateway/snapshot/load';
import { hashKey } from '#lib/platform/secrets';
import { asks, enter } from '#tests/gateway/control/accounts/people';
import {
  addMember,
  createWorkspace,
  findKey,
  findWorkspace,
  listKeys,
  operate,
  removeMember,
  revokeKey,
  setMember,
} from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

async function newPlayer(role = 'developer') {
  const { id, slug } = await createWorkspace(db, { name: 'Playground', credit: '10' });
  const user = { id: randomUUID(), email: `${randomUUID()}@example.com` };
  await db.prisma.user.create({ data: user });
  await addMember(db, { workspace: slug, email: user.email, role });
  const actor = await enter(db, user.id);
  const open = () => operate(db, openPlayground, { workspace: slug }, 'pepper', actor);
  return { id, slug, user, actor, open };
}

/** What the gateway says to a call with the key. */
async function refusalOf(key: string, nowMs = Date.now()) {
  const snapshot = await loadKey(db.pool, hashKey(key, 'pepper'));
  return snapshot === null ? 'unknown' : (checkKey(snapshot, nowMs)?.code ?? null);
}
const keyOf = (workspaceId: string) =>
  db.prisma.apiKey.findFirstOrThrow({ where: { workspaceId, sessionId: { not: null } } });
const published = async (subject: string) =>
  (await db.pool.query('SELECT 1 FROM change WHERE subject = $1', [subject])).rowCount;

describe('the key of a playground (contract: authentication/playground-key)', () => {
  it('is one for each session and workspace; a new secret leaves the one before its own time', async () => {
    const { id, open } = await newPlayer();
    const first = await open();
    const { id: keyId } = await keyOf(id);
    const second = await open();
    expect(await db.prisma.apiKey.count({ where: { workspaceId: id } })).toBe(1);
    expect(await Promise.all([refusalOf(first.key), refusalOf(second.key)])).toEqual([null, null]);
    const end = Date.parse(second.expiresAt);
    expect(end - Date.now()).toBeLessThanOrEqual(30 * 60_000);
    expect([await refusalOf(first.key, end), await refusalOf(second.key, end)]).toEqual([
      'invalid_api_key',
      'apikey_inactive',
    ]);
    const third = await open();
    expect([await refusalOf(first.key), await refusalOf(third.key)]).toEqual(['unknown', null]);
    expect(await db.prisma.audit.count({ where: { action: 'playground.open', subject: keyId } })).toBe(3);
    const trail = JSON.stringify(await db.prisma.audit.findMany({ where: { subject: keyId } }));
    for (const { key } of [first, second, third]) expect(trail).not.toContain(key);
  });

  it('is one also when two tabs ask at once, and both secrets work', async () => {
    const { id, open } = await newPlayer();
    const keys = await Promise.all([open(), open()]);
    expect(await db.prisma.apiKey.count({ where: { workspaceId: id } })).toBe(1);
    expect(await Promise.all(keys.map(({ key }) => refusalOf(key)))).toEqual([null, null]);
  });

  it('stands in no list of keys, and nothing that changes keys knows it', async () => {
    const { id, slug, open } = await newPlayer();
    await open();
    const { id: keyId } = await keyOf(id);
    expect((await listKeys(db, slug)).data).toEqual([]);
    expect((await findWorkspace(db, slug)).keys).toEqual([]);
    await expect(findKey(db, keyId)).rejects.toMatchObject({ code: 'not_found' });
    await expect(revokeKey(db, { id: keyId })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('ends with its session, and every process hears of it', async () => {
    const { id, actor, open } = await newPlayer();
    const { key } = await open();
    const { id: keyId } = await keyOf(id);
    const before = await published(keyId);
    await asks(db, endSession, { id: actor.sessionId }, actor);
    expect(await refusalOf(key)).toBe('apikey_inactive');
    expect(await published(keyId)).toBe((before ?? 0) + 1);
    await expect(open()).rejects.toMatchObject({ code: 'permission_denied' });
  });

  it('ends when its user signs out everywhere, and with the time of its session', async () => {
    const one = await newPlayer();
    const { key } = await one.open();
    await asks(db, endAllSessions, {}, one.actor);
    expect(await refusalOf(key)).toBe('apikey_inactive');
    const other = await newPlayer();
    const soon = new Date(Date.now() + 60_000);
    await db.prisma.session.update({ where: { id: other.actor.sessionId }, data: { endsAt: soon } });
    expect((await other.open()).expiresAt).toBe(soon.toISOString());
  });

  it.each([
    ['the membership', (slug: string, member: string) => removeMember(db, { workspace: slug, member })],
    [
      'a role that has a playground',
      (slug: string, member: string) => setMember(db, { workspace: slug, member, role: 'viewer' }),
    ],
  ])('ends with %s', async (_what, end) => {
    const { slug, user, open } = await newPlayer();
    const { key } = await open();
    expect(await refusalOf(key)).toBe(null);
    await end(slug, user.id);
    expect(await refusalOf(key)).toBe('apikey_inactive');
  });

  it('is given to sessions alone, of roles that have a playground, and not in a suspended workspace', async () => {
    const viewer = await newPlayer('viewer');
    await expect(viewer.open()).rejects.toMatchObject({ code: 'permission_denied' });
    const { slug, id, open } = await newPlayer();
    await expect(operate(db, openPlayground, { workspace: slug })).rejects.toMatchObject({
      code: 'permission_denied',
    });
    const { key } = await open();
    await db.prisma.workspace.update({ where: { id }, data: { suspendedAt: new Date() } });
    expect(await refusalOf(key)).toBe('apikey_inactive');
    await expect(open()).rejects.toMatchObject({ code: 'permission_denied' });
  });
});
