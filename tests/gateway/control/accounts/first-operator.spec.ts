import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createFirstOperator } from '#lib/control/operations/user/first-operator';
import { createUser } from '#lib/control/operations/user/operations';
import { operatorLink } from '#lib/programs/process/operator-link';
import { asks, newEmail, password, refusalOf, rules } from '#tests/gateway/control/accounts/people';
import { operate } from '#tests/support/control/operate';
import { openOwnDatabase } from '#tests/support/postgres/own-database';

const db = await openOwnDatabase();
const closed = { ...rules, signUp: false, creditNano: 0n };

beforeEach(async () => {
  await db.prisma.user.deleteMany();
  await db.prisma.operatorLink.deleteMany();
});

/** A start of the gateway: the link that it prints. */
function startOn(dataDir = mkdtempSync(join(tmpdir(), 'start-')), console = true) {
  const at = { nextAuthUrl: 'https://gateway.example.com', host: '0.0.0.0', port: 3000 };
  return operatorLink(db, { ...at, dataDir, console, keyPepper: 'pepper' });
}

/** Opens a link and makes the account; what a refusal said. */
async function use(link: string | null, email = newEmail()): Promise<string> {
  const token = link?.split('#')[1];
  return refusalOf(asks(db, createFirstOperator, { token, email, password }, undefined, closed));
}

const operators = () => db.prisma.user.count({ where: { operator: true } });

describe('the link for the first operator (contract: operations/first-operator)', () => {
  it('makes an operator with a workspace although signing up is closed, and works once', async () => {
    const link = await startOn();
    expect(link).toMatch(/^https:\/\/gateway\.example\.com\/welcome#[\w-]{43}$/);
    const email = newEmail();
    expect(await use(link, email)).toBe('not refused');
    const user = await db.prisma.user.findUniqueOrThrow({ where: { email }, include: { members: true } });
    expect(user).toMatchObject({
      operator: true,
      emailVerifiedAt: expect.any(Date),
      members: [{ role: 'owner' }],
    });
    expect(await use(link)).toContain('already has an operator');
    expect(await operators()).toBe(1);
  });

  it('is kept as a hash alone, and in no file', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'start-'));
    const token = (await startOn(dataDir))?.split('#')[1] ?? '';
    const [row] = await db.prisma.operatorLink.findMany();
    expect(row?.hash).toHaveLength(32);
    expect(Buffer.from(row?.hash ?? []).toString('base64url')).not.toBe(token);
    for (const file of readdirSync(dataDir))
      expect(readFileSync(join(dataDir, file), 'utf8')).not.toContain(token);
  });

  it('ends with the next start of the same process', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'start-'));
    const first = await startOn(dataDir);
    const second = await startOn(dataDir);
    expect(await use(first)).toContain('restart the gateway');
    expect(await use(second)).toBe('not refused');
  });

  it('works from each of three processes that start at once, for one of three people', async () => {
    const links = await Promise.all([startOn(), startOn(), startOn()]);
    expect(new Set(links).size).toBe(3);
    const said = await Promise.all(links.map((link) => use(link)));
    expect(said.filter((one) => one === 'not refused')).toHaveLength(1);
    expect(await operators()).toBe(1);
    expect(await db.prisma.operatorLink.count()).toBe(0);
  });

  it('works for an hour', async () => {
    const link = await startOn();
    const [row] = await db.prisma.operatorLink.findMany();
    const left = (row?.expiresAt.getTime() ?? 0) - Date.now();
    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThanOrEqual(3_601_000);
    await db.pool.query("UPDATE operator_link SET expires_at = now() - interval '1 second'");
    expect(await use(link)).toContain('has expired');
    expect(await operators()).toBe(0);
  });

  it('is not made, and does not work, where there is an operator, nor printed where there is no console', async () => {
    expect(await startOn(undefined, false)).toBeNull();
    const link = await startOn();
    await operate(db, createUser, { email: newEmail(), password, operator: true });
    expect(await startOn()).toBeNull();
    expect(await use(link)).toContain('already has an operator');
    expect(await operators()).toBe(1);
  });

  it('still works after an address that is taken or a password that is refused', async () => {
    const link = await startOn();
    const email = newEmail();
    await operate(db, createUser, { email, password });
    expect(await use(link, email)).toContain('already');
    expect(await use(link)).toBe('not refused');
  });

  it.each([
    ['nothing', ''],
    ['a made-up one', 'a'.repeat(43)],
    ['one that no database stores', '\u0000'],
  ])('is refused with %s in its place', async (_, token) => {
    await startOn();
    expect(await use(`#${token}`)).not.toBe('not refused');
    expect(await operators()).toBe(0);
  });
});
