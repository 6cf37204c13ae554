import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { enterByProvider, linkAccount, unlinkAccount } from '#lib/control/operations/user/linked';
import { showAccount } from '#lib/control/operations/user/profile';
import { asks, enter, newcomer, newEmail, refusalOf, rules } from '#tests/gateway/control/accounts/people';
import { createUser } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

const account = () => ({ provider: 'github', subject: randomUUID() });

describe('signing in with an account elsewhere (contract: control-plane/other-accounts)', () => {
  it('makes a verified user with a workspace and its credit, once, and knows it again by its id', async () => {
    const given = {
      ...account(),
      email: newEmail(),
      emailVerified: true,
      name: 'Ann',
      timeZone: 'Europe/Berlin',
    };
    const entered = await Promise.all(
      [1, 2, 3].map(() => asks(db, enterByProvider, given).catch(() => null)),
    );
    const ids = new Set(entered.flatMap((one) => one?.id ?? []));
    expect(ids.size).toBe(1);
    const again = await asks(db, enterByProvider, { ...given, email: newEmail(), emailVerified: false });
    expect(ids).toContain(again.id);
    const user = await db.prisma.user.findUniqueOrThrow({
      where: { id: again.id },
      include: { signUpWorkspace: true },
    });
    expect(user).toMatchObject({ email: given.email, passwordHash: null, sessionVersion: 1 });
    expect(user.signUpWorkspace).toMatchObject({ timeZone: 'Europe/Berlin', balanceNano: 5_000_000_000n });
    expect(user.emailVerifiedAt).not.toBeNull();
  });

  it('takes an address for one person’s only where both sides have verified it', async () => {
    const squatted = await newcomer(db);
    const ours = { email: newEmail(), password: 'three random words' };
    const { id } = await createUser(db, ours);
    const come = (email: string | undefined, emailVerified: boolean) =>
      asks(db, enterByProvider, { ...account(), ...(email ? { email } : {}), emailVerified });
    expect(await refusalOf(come(squatted.email, true))).toMatch(/^email: .*not verified/);
    expect(await refusalOf(come(ours.email, false))).toMatch(/^email: .*not verified at the provider/);
    expect(await refusalOf(come(undefined, false))).toMatch(/^email: /);
    expect(await db.prisma.linkedAccount.count({ where: { userId: { in: [squatted.id, id] } } })).toBe(0);
    expect(await come(ours.email.toUpperCase(), true)).toMatchObject({ id });
  });

  it('makes nobody where signing up is closed, and lets known ones in', async () => {
    const closed = { ...rules, signUp: false };
    const given = { ...account(), email: newEmail(), emailVerified: true };
    expect(await refusalOf(asks(db, enterByProvider, given, undefined, closed))).toContain('closed');
    const { id } = await asks(db, enterByProvider, given);
    expect(await asks(db, enterByProvider, given, undefined, closed)).toMatchObject({ id });
  });
});

describe('connecting an account', () => {
  it('of another user is refused, one’s own twice is no change, and the only way in stays', async () => {
    const [ann, bob] = [await newcomer(db), await newcomer(db)];
    const [asAnn, asBob] = [await enter(db, ann.id), await enter(db, bob.id)];
    const hers = account();
    await asks(db, linkAccount, { ...hers, email: newEmail() }, asAnn);
    await asks(db, linkAccount, hers, asAnn);
    expect(await refusalOf(asks(db, linkAccount, hers, asBob))).toContain('another user');
    expect((await asks(db, showAccount, {}, asAnn)).linked).toHaveLength(1);
    await db.prisma.user.update({ where: { id: ann.id }, data: { passwordHash: null } });
    expect(await refusalOf(asks(db, unlinkAccount, { provider: 'github' }, asAnn))).toContain(
      'set a password',
    );
    await asks(db, linkAccount, { provider: 'google', subject: randomUUID() }, asAnn);
    await asks(db, unlinkAccount, { provider: 'github' }, asAnn);
    expect(
      await asks(db, enterByProvider, { ...hers, email: newEmail(), emailVerified: true }),
    ).not.toMatchObject({
      id: ann.id,
    });
  });
});
