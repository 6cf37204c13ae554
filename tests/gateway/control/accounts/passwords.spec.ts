import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findUserByPassword } from '#lib/control/operations/user/authenticate';
import { changePassword } from '#lib/control/operations/user/profile';
import { requestReset, resetPassword } from '#lib/control/operations/user/reset';
import { endAllSessions, endSession, listSessions } from '#lib/control/operations/user/sessions';
import {
  asks,
  enter,
  isIn,
  newcomer,
  newEmail,
  openTestOutbox,
  password,
  refusalOf,
  tokensIn,
} from '#tests/gateway/control/accounts/people';
import { createKeyAs } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

const wanted = 'another four random words';

async function resetTokens(email: string, count = 1): Promise<string[]> {
  const { outbox, letters } = openTestOutbox(db);
  for (let n = 0; n < count; n++) await asks(db, requestReset, { email });
  outbox.wake();
  const found = () => tokensIn(letters, email, '/reset');
  await expect.poll(() => found().length).toBe(count);
  await outbox.stop();
  return found();
}

describe('a new password by mail (contract: control-plane/reset)', () => {
  it('answers and writes the same for an address with an account and without one; only the first gets a mail', async () => {
    const { email } = await newcomer(db);
    const { outbox, letters } = openTestOutbox(db);
    const unknown = newEmail();
    const answers = [
      await asks(db, requestReset, { email }),
      await asks(db, requestReset, { email: unknown }),
    ];
    expect(answers).toEqual([{}, {}]);
    const rows = await db.prisma.mail.count({
      where: { recipient: { in: [email, unknown] }, kind: 'reset' },
    });
    expect(rows).toBe(2);
    outbox.wake();
    await expect
      .poll(() => db.prisma.mail.count({ where: { recipient: unknown, nextTryAt: null, sentAt: null } }))
      .toBe(1);
    await expect.poll(() => letters.filter(({ link }) => link?.includes('/reset?')).length).toBe(1);
    await outbox.stop();
    expect(letters.map(({ to }) => to)).not.toContain(unknown);
  });

  it('sets it once, ends every session and every other link, and verifies the address', async () => {
    const { id, email } = await newcomer(db);
    const session = await enter(db, id);
    const [token = '', other = ''] = await resetTokens(email, 2);
    const common = asks(db, resetPassword, { token, password: 'Password123' });
    expect(await refusalOf(common)).toMatch(/^password: .*too common/);
    const tries = [1, 2, 3].map((n) =>
      refusalOf(asks(db, resetPassword, { token, password: `${wanted} ${n}` })),
    );
    const said = await Promise.all(tries);
    expect(said.filter((one) => one === 'not refused')).toHaveLength(1);
    expect(await isIn(db, session)).toBe(false);
    expect(await findUserByPassword(db, email, password)).toBeNull();
    const winner = said.indexOf('not refused') + 1;
    expect(await findUserByPassword(db, email, `${wanted} ${winner}`)).toMatchObject({ id });
    expect(await refusalOf(asks(db, resetPassword, { token: other, password: wanted }))).toMatch(
      /already used/,
    );
    expect((await db.prisma.user.findUniqueOrThrow({ where: { id } })).emailVerifiedAt).not.toBeNull();
  });

  it('takes an account that somebody else made on the address out of their hands', async () => {
    const { id, slug, email } = await newcomer(db);
    await db.prisma.linkedAccount.create({ data: { provider: 'github', subject: randomUUID(), userId: id } });
    const key = await createKeyAs(db, id, { workspace: slug, name: 'of a squatter' });
    const [token = ''] = await resetTokens(email);
    expect(await asks(db, resetPassword, { token, password: wanted })).toMatchObject({ disabledKeys: 1 });
    expect(await db.prisma.apiKey.findUnique({ where: { id: key.id } })).toMatchObject({
      status: 'inactive',
    });
    expect(await db.prisma.linkedAccount.count({ where: { userId: id } })).toBe(0);
    const [again = ''] = await resetTokens(email);
    await db.prisma.apiKey.update({ where: { id: key.id }, data: { status: 'active' } });
    expect(await asks(db, resetPassword, { token: again, password })).toMatchObject({ disabledKeys: 0 });
  });
});

describe('changing the password (contract: control-plane/sessions)', () => {
  it('needs the current one, and ends the other sessions alone', async () => {
    const { id, email } = await newcomer(db);
    const [own, other] = [await enter(db, id), await enter(db, id)];
    const wrong = asks(db, changePassword, { current: 'not it at all', password: wanted }, own);
    expect(await refusalOf(wrong)).toMatch(/^current: /);
    expect(await refusalOf(asks(db, changePassword, { password: wanted }, own))).toMatch(/^current: /);
    expect(await isIn(db, other)).toBe(true);
    expect(await asks(db, changePassword, { current: password, password: wanted }, own)).toEqual({
      ended: 1,
    });
    expect([await isIn(db, own), await isIn(db, other)]).toEqual([true, false]);
    expect(await findUserByPassword(db, email, wanted)).toMatchObject({ id, sessionVersion: 2 });
    const rows = await db.prisma.audit.findMany({ where: { subject: id, action: 'user.change-password' } });
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/random words|argon2/);
  });

  it('leaves no session to whoever was signing in with the old one at that moment', async () => {
    const { id } = await newcomer(db);
    const own = await enter(db, id);
    await asks(db, changePassword, { current: password, password: wanted }, own);
    // Its password was found right before, so it carries the version of then.
    expect(await isIn(db, await enter(db, id, 1))).toBe(false);
  });
});

describe('sessions (contract: control-plane/sessions)', () => {
  it('are listed with their device, ended one by one, and nobody ends another’s', async () => {
    const [ann, bob] = [await newcomer(db), await newcomer(db)];
    const [own, old] = [await enter(db, ann.id), await enter(db, ann.id)];
    const theirs = await enter(db, bob.id);
    const { data } = await asks(db, listSessions, {}, own);
    expect(data.map(({ id, current }) => [id, current])).toEqual([
      [own.sessionId, true],
      [old.sessionId, false],
    ]);
    expect(data[0]).toMatchObject({ userAgent: 'curl/8', address: '192.0.2.7', method: 'password' });
    await asks(db, endSession, { id: theirs.sessionId }, own);
    expect(await isIn(db, theirs)).toBe(true);
    await asks(db, endSession, { id: old.sessionId }, own);
    expect([await isIn(db, own), await isIn(db, old)]).toEqual([true, false]);
    await asks(db, endAllSessions, {}, own);
    expect([await isIn(db, own), await isIn(db, theirs)]).toEqual([false, true]);
  });

  it('are at most 50 for a user: the longest unseen goes', async () => {
    const { id } = await newcomer(db);
    const first = await enter(db, id);
    await db.pool.query(`UPDATE session SET seen_at = now() - interval '1 h' WHERE user_id = $1`, [id]);
    for (let n = 0; n < 50; n++) await enter(db, id);
    expect(await isIn(db, first)).toBe(false);
    expect(await db.prisma.session.count({ where: { userId: id } })).toBe(50);
  });
});
