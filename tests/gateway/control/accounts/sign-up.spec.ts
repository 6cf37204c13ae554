import { describe, expect, it } from 'vitest';
import { createKey } from '#lib/control/operations/key/operations';
import { ask } from '#lib/control/operations/run';
import { findUserByPassword } from '#lib/control/operations/user/authenticate';
import { signUp } from '#lib/control/operations/user/sign-up';
import { requestVerification, verifyAddress } from '#lib/control/operations/user/verify';
import {
  asks,
  enter,
  newcomer,
  newEmail,
  openTestOutbox,
  password,
  refusalOf,
  rules,
  tokensIn,
} from '#tests/gateway/control/accounts/people';
import { controlHost } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();

const signUpAs = (input: Record<string, unknown>) =>
  ask({ ...controlHost(db), accounts: rules }, signUp, {
    actor: { kind: 'anonymous', address: null },
    input,
  });
const balanceOf = async (slug: string) =>
  (await db.prisma.workspace.findUniqueOrThrow({ where: { slug } })).balanceNano;

describe('signing up (contract: control-plane/sign-up)', () => {
  it('makes a user, a workspace of theirs in the browser’s zone, and a mail', async () => {
    const { id, slug, email } = await newcomer(db);
    const workspace = await db.prisma.workspace.findUniqueOrThrow({
      where: { slug },
      include: { members: true },
    });
    expect(workspace).toMatchObject({ timeZone: 'Asia/Kathmandu', rpm: 600, balanceNano: 0n });
    expect(workspace.members).toMatchObject([{ userId: id, role: 'owner' }]);
    const user = await db.prisma.user.findUniqueOrThrow({ where: { id } });
    expect(user).toMatchObject({ emailVerifiedAt: null, operator: false, signUpWorkspaceId: workspace.id });
    expect(await findUserByPassword(db, email, password)).toMatchObject({ id });
    expect(await db.prisma.mail.findMany({ where: { recipient: email } })).toMatchObject([
      { kind: 'verify' },
    ]);
    const [row] = await db.prisma.audit.findMany({ where: { subject: id } });
    expect(row).toMatchObject({ actor: 'anonymous', action: 'user.sign-up', address: '192.0.2.7' });
    expect(JSON.stringify(row)).not.toMatch(/random words|argon2/);
  });

  it('takes a name, which others see, and refuses one that cannot be shown', async () => {
    const email = newEmail();
    const { id, slug } = await signUpAs({ name: '  Bea Long ', email, password });
    const user = await db.prisma.user.findUniqueOrThrow({ where: { id } });
    expect(user.name).toBe('Bea Long');
    expect((await db.prisma.workspace.findUniqueOrThrow({ where: { slug } })).name).toBe('Bea Long');
    for (const name of ['', ' ', 'Ann\u202Elee', 'x'.repeat(101)])
      expect(await refusalOf(signUpAs({ name, email: newEmail(), password }))).toMatch(/name/);
  });

  it('of one address twice at once makes one account, one workspace and one mail', async () => {
    const email = newEmail();
    const before = await db.prisma.workspace.count();
    const spellings = [email, ` ${email.toUpperCase()} `, email, email];
    const said = await Promise.all(
      spellings.map((one) => refusalOf(asks(db, signUp, { email: one, password }))),
    );
    expect(said.filter((one) => one === 'not refused')).toHaveLength(1);
    expect(said.filter((one) => /^email: .*already/.test(one))).toHaveLength(3);
    expect(await db.prisma.workspace.count()).toBe(before + 1);
    expect(await db.prisma.mail.count({ where: { recipient: email } })).toBe(1);
  });

  it('is refused where it is closed, and leaves nothing', async () => {
    const email = newEmail();
    const closed = asks(db, signUp, { email, password }, undefined, { ...rules, signUp: false });
    expect(await refusalOf(closed)).toContain('closed');
    expect(await db.prisma.user.count({ where: { email } })).toBe(0);
  });

  it.each([
    ['a zone that is none', 'Mars/Olympus'],
    ['a zone of a stranger', '\u0000; DROP'],
  ])('takes %s for UTC, or refuses it', async (_, timeZone) => {
    const made = await asks(db, signUp, { email: newEmail(), password, timeZone }).catch(() => null);
    if (made === null) return;
    const { timeZone: kept } = await db.prisma.workspace.findUniqueOrThrow({ where: { slug: made.slug } });
    expect(kept).toBe('UTC');
  });

  it('names the workspace after the address, and never by a reserved or a taken slug', async () => {
    const mails = ['sign-up@a.example', 'sign-up@b.example', 'ann.lee@c.example', '_@d.example'];
    const slugs: string[] = [];
    for (const email of mails) slugs.push((await asks(db, signUp, { email, password })).slug);
    expect(slugs).toEqual(['sign-up-workspace', 'sign-up-workspace-2', 'ann-lee', 'workspace']);
  });
});

describe('verifying an address (contract: control-plane/verification, control-plane/sign-up-credit)', () => {
  it('gives the credit once, also when two links are opened at once', async () => {
    const { outbox, letters } = openTestOutbox(db);
    const { id, slug, email } = await newcomer(db);
    const actor = await enter(db, id);
    await asks(db, requestVerification, {}, actor);
    outbox.wake();
    await expect.poll(() => tokensIn(letters, email).length).toBe(2);
    const tokens = tokensIn(letters, email);
    const done = await Promise.all(
      [...tokens, ...tokens].map((token) => refusalOf(asks(db, verifyAddress, { token }))),
    );
    expect(done.filter((said) => said === 'not refused').length).toBeGreaterThan(0);
    expect(done.filter((said) => /already used/.test(said)).length).toBeGreaterThanOrEqual(2);
    expect(await balanceOf(slug)).toBe(5_000_000_000n);
    const lines = await db.prisma.ledgerLine.findMany({ where: { ref: `sign-up ${id}` } });
    expect(lines).toMatchObject([{ kind: 'promo', amountNano: 5_000_000_000n }]);
    const [promo, ...others] = await db.prisma.promo.findMany({ where: { ref: `sign-up ${id}` } });
    expect(others).toEqual([]);
    const days = ((promo?.expiresAt.getTime() ?? 0) - (promo?.grantedAt.getTime() ?? 0)) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    expect((await db.prisma.user.findUniqueOrThrow({ where: { id } })).emailVerifiedAt).not.toBeNull();
    expect(await refusalOf(asks(db, requestVerification, {}, actor))).toContain('already verified');
    await outbox.stop();
  });

  it('needs a link of its own kind, whole, unused and in time', async () => {
    const { outbox, letters } = openTestOutbox(db);
    const { id, email } = await newcomer(db);
    outbox.wake();
    await expect.poll(() => tokensIn(letters, email).length).toBe(1);
    const [token = ''] = tokensIn(letters, email);
    const verify = (one: string) => refusalOf(asks(db, verifyAddress, { token: one }));
    for (const wrong of ['', 'x', token.slice(1), `${token}A`, token.toLowerCase(), 'A'.repeat(43)]) {
      expect(await verify(wrong)).toMatch(/^token: /);
    }
    const set = (change: string) =>
      db.pool.query(`UPDATE account_token SET ${change} WHERE user_id = $1`, [id]);
    await set("expires_at = now() - interval '1 s'");
    expect(await verify(token)).toMatch(/has expired/);
    await set("expires_at = now() + interval '1 h', purpose = 'reset'");
    expect(await verify(token)).toMatch(/not one of ours/);
    await set("purpose = 'verify'");
    expect(await verify(token)).toBe('not refused');
    expect(await verify(token)).toMatch(/already used/);
    await outbox.stop();
  });

  it('is not needed on the embedded default, where the credit comes at once', async () => {
    const { slug, email } = await newcomer(db, { ...rules, verification: false });
    expect(await balanceOf(slug)).toBe(5_000_000_000n);
    expect(await db.prisma.mail.count({ where: { recipient: email } })).toBe(0);
  });

  it('comes before anything is changed beyond one’s own account; reading is free', async () => {
    const { id, slug } = await newcomer(db);
    const host = { ...controlHost(db), accounts: rules };
    const actor = { kind: 'user', userId: id, operator: false, unverified: true, address: null } as const;
    const making = ask(host, createKey, { actor, workspace: slug, input: { name: 'early' } });
    expect(await refusalOf(making)).toContain('verify your email address first');
    expect(await db.prisma.apiKey.count({ where: { name: 'early' } })).toBe(0);
  });
});
