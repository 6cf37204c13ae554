import { randomUUID } from 'node:crypto';
import { verify } from '@node-rs/argon2';
import { describe, expect, it } from 'vitest';
import { ControlRefused } from '#lib/control/operations/refusal';
import { findUserByPassword, findUserOfSession } from '#lib/control/operations/user/authenticate';
import { endSession, startSession } from '#lib/control/operations/user/sessions';
import { createUser, createWorkspace, operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

function refusalOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'not refused',
    (error: unknown) => {
      if (error instanceof ControlRefused) return error.message;
      throw error;
    },
  );
}

describe('creating a user (contract: control-plane/passwords)', () => {
  it('stores a password as Argon2id and makes a member', async () => {
    const { id: workspaceId, slug } = await createWorkspace(db, { name: 'Labs' });
    const wanted = { email: ' Ann@Example.COM ', password: 'correct horse', workspace: slug };
    const { id, email } = await createUser(db, { ...wanted, role: 'admin' });
    expect(email).toBe('ann@example.com');
    const user = await db.prisma.user.findUniqueOrThrow({ where: { id }, include: { members: true } });
    expect(user.passwordHash).toMatch(/^\$argon2id\$/);
    expect(await verify(user.passwordHash ?? '', 'correct horse')).toBe(true);
    expect(user.members).toMatchObject([{ workspaceId, role: 'admin' }]);
    const [row] = await db.prisma.audit.findMany({ where: { subject: id } });
    expect(row).toMatchObject({ action: 'user.create', after: { email, operator: false, role: 'admin' } });
    expect(JSON.stringify(row)).not.toMatch(/correct horse|argon2/);
  });

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['an unknown workspace', { workspace: 'absent' }, /no workspace "absent"/],
    ['a role of no workspace', { role: 'viewer' }, /^role: .*--workspace/],
    ['9 characters', { password: 'nine char' }, /^password: .*at least 10/],
    ['257 characters', { password: 'é'.repeat(257) }, /^password: .*at most 256/],
    ['a common password', { password: 'Password123' }, /^password: .*too common/],
    ['a common password of digits', { password: '1234567890' }, /^password: .*too common/],
    ['no address', { email: 'bob' }, /^email: must be an email address/],
    ['an address with a control character', { email: 'b\u0000b@example.com' }, /^email: /],
  ])('refuses %s, and changes nothing', async (_, wrong, message) => {
    const wanted = { email: 'bob@example.com', password: 'long enough', ...wrong };
    expect(await refusalOf(createUser(db, wanted))).toMatch(message);
    expect(await db.prisma.user.count({ where: { email: 'bob@example.com' } })).toBe(0);
  });

  it('counts characters, not their halves, and takes 10 and 256', async () => {
    for (const [n, password] of ['😀'.repeat(9), '😀'.repeat(10), 'x'.repeat(255).concat('y')].entries()) {
      const made = refusalOf(createUser(db, { email: `length${n}@example.com`, password }));
      expect(await made).toMatch(n === 0 ? /at least 10/ : /not refused/);
    }
  });

  it('refuses a known address, however it is written, also when two are made at once', async () => {
    const made = ['eve@example.com', 'EVE@example.com'].map((email) =>
      refusalOf(createUser(db, { email, password: 'long enough' })),
    );
    expect((await Promise.all(made)).sort()).toEqual([expect.stringContaining('already'), 'not refused']);
  });
});

describe('signing in (contract: control-plane/sign-in)', () => {
  it('needs the password, and the address in any case', async () => {
    const { id } = await createUser(db, { email: 'sue@example.com', password: 'correct horse' });
    expect(await findUserByPassword(db, ' SUE@example.com', 'correct horse')).toMatchObject({ id });
    expect(await findUserByPassword(db, 'sue@example.com', 'Correct horse')).toBeNull();
    expect(await findUserByPassword(db, 'sue@exam\0ple.com', 'correct horse')).toBeNull();
  });

  it('opens a session that signing out ends, once, with a row in the audit trail', async () => {
    const { id: userId } = await createUser(db, { email: 'kim@example.com', password: 'correct horse' });
    const actor = { kind: 'user' as const, userId, operator: false, address: null };
    const session = { sessionId: randomUUID(), userId };
    const endsAtMs = Date.now() + 60_000;
    const begun = { id: session.sessionId, version: 1, method: 'password' };
    await operate(db, startSession, { ...begun, endsAt: new Date(endsAtMs).toISOString() }, 'pepper', actor);
    const find = (asked: typeof session, nowMs = Date.now()) => findUserOfSession(db, asked, nowMs);
    expect(await find(session)).toMatchObject({ email: 'kim@example.com', verified: true });
    expect(await find(session, endsAtMs)).toBeNull();
    expect(await find({ ...session, userId: randomUUID() })).toBeNull();
    await Promise.all([1, 2].map(() => operate(db, endSession, { id: session.sessionId }, 'pepper', actor)));
    expect(await find(session)).toBeNull();
    const rows = await db.prisma.audit.findMany({
      where: { subject: session.sessionId, action: 'session.end' },
    });
    expect(rows).toMatchObject([{ actor: userId }]);
  });
});
