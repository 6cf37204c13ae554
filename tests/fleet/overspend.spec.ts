import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseUsd } from '#lib/core/money';
import { expectBalancedBooks } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { readBooked, readProvided } from '#tests/support/fleet/accounts';
import { Client, codeOf, type Told } from '#tests/support/fleet/client';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { type OwnStack, startStack } from '#tests/support/stack';

const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
/** 1,000 tokens of output and a little input: $0.0040 and some; slow, so that all of them meet. */
const expensive = { directive: 'fault/slow-first-byte?ms=300&tokens=1000', maxTokens: 1000 };
const dearNano = 4_050_000n;

let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack();
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await expectBalancedBooks(stack).finally(() => stack.close());
});

/** Calls at once, again and again until none is admitted any more. */
async function spendAll(keys: readonly string[], parallel: number, clients: readonly Client[] = [client]) {
  const told: Told[] = [];
  const rounds: number[] = [];
  for (;;) {
    const round = await Promise.all(
      Array.from({ length: parallel }, (_, at) =>
        (clients[at % clients.length] ?? client).ask(keys[at % keys.length] ?? '', expensive),
      ),
    );
    told.push(...round);
    const admitted = round.filter((one) => one.status === 200).length;
    rounds.push(admitted);
    // A gateway that a busy machine kept from answering a recall has the others say so: they ask again.
    if (admitted === 0 && !round.some((one) => one.status === 500)) return { told, rounds };
  }
}

/** Every answer has its row; what was refused says so by `code` and cost nothing, here and upstream. */
async function chargedFor(told: readonly Told[], code: string): Promise<bigint> {
  for (const one of told)
    expect(`${one.status} ${codeOf(one)}`).toMatch(/^200 $|^402 |^500 local_quota_not_configured$/);
  // Each gateway brings its own calls to the log.
  await eventually(async () => {
    const ids = told.map((one) => one.id);
    return (await stack.db.pool.query('SELECT 1 FROM call WHERE id = ANY($1)', [ids])).rowCount;
  }, told.length);
  await expectBalancedBooks(stack);
  const booked = await readBooked(stack);
  const provided = await readProvided(stack);
  let chargedNano = 0n;
  for (const one of told) {
    const rows = booked.get(one.mark) ?? [];
    expect(rows.map((row) => row.id)).toEqual([one.id]);
    for (const row of rows) chargedNano += row.costNano;
    if (one.status === 200) continue;
    if (one.status === 402) expect(codeOf(one)).toBe(code);
    expect(provided.has(one.mark)).toBe(false);
    expect(rows[0]).toMatchObject({ costNano: 0n, endReason: 'refused', errorCode: codeOf(one) });
  }
  return chargedNano;
}

function expectCrossedOnce(chargedNano: bigint, balance: string): void {
  const balanceNano = parseUsd(balance);
  // Calls were admitted as long as anything was left, and the last one crossed.
  expect(chargedNano).toBeGreaterThanOrEqual(balanceNano);
  expect(chargedNano).toBeLessThan(balanceNano + dearNano);
}

function say(what: string, told: readonly Told[], rounds: readonly number[], chargedNano: bigint): void {
  const figures = { calls: told.length, admitted: rounds, chargedNano: Number(chargedNano) };
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);
}

describe('parallel calls never spend more than one crossing call above (contract: money/crossing-call, money/overshoot)', () => {
  it('a balance that affords 10, asked for by 200 at once', async () => {
    const { slug } = await stack.workspace({ ...wide, credit: '0.0405' });
    const keys = await Promise.all([stack.key(slug), stack.key(slug)]);
    const { told, rounds } = await spendAll(
      keys.map(({ key }) => key),
      200,
    );
    const charged = await chargedFor(told, 'insufficient_balance');
    say('balance for 10', told, rounds, charged);
    expectCrossedOnce(charged, '0.0405');
  });

  it("a key's daily cap that affords 10, asked for by 200 at once", async () => {
    const { slug } = await stack.workspace(wide);
    const { key } = await stack.key(slug, { dailyCap: '0.0405' });
    const { told, rounds } = await spendAll([key], 200);
    const charged = await chargedFor(told, 'day_limit_reached');
    say('daily cap for 10', told, rounds, charged);
    expectCrossedOnce(charged, '0.0405');
  });

  it("a key's quota that affords 10, asked for by 200 at once", async () => {
    const { slug } = await stack.workspace(wide);
    const { key } = await stack.key(slug, { quota: '0.0405' });
    const { told, rounds } = await spendAll([key], 200);
    const charged = await chargedFor(told, 'quota_exceeded');
    say('quota for 10', told, rounds, charged);
    expectCrossedOnce(charged, '0.0405');
  });

  it('a balance for one, asked for by 1,000 at once', async () => {
    const { slug } = await stack.workspace({ ...wide, credit: '0.004' });
    const { key } = await stack.key(slug);
    const { told, rounds } = await spendAll([key], 1000);
    const charged = await chargedFor(told, 'insufficient_balance');
    say('balance for 1', told, rounds, charged);
    expect(rounds.reduce((sum, admitted) => sum + admitted, 0)).toBe(1);
    expectCrossedOnce(charged, '0.004');
  });
});

it('a strict workspace never spends more than it has, not by one nano-dollar', async () => {
  const { slug } = await stack.workspace({ ...wide, credit: '0.0405', strict: true });
  const { key } = await stack.key(slug);
  const { told, rounds } = await spendAll([key], 200);
  const charged = await chargedFor(told, 'insufficient_balance');
  say('strict balance for 10', told, rounds, charged);
  expect(charged).toBeLessThanOrEqual(parseUsd('0.0405'));
  // What is left is less than one more call may cost.
  expect(charged).toBeGreaterThan(parseUsd('0.0405') - 2n * dearNano);
});

describe('two gateways on one database', () => {
  let second: Second;
  let other: Client;
  beforeAll(async () => {
    second = await startSecond(stack);
    other = new Client(second.url);
  });
  afterAll(async () => {
    other.close();
    await second.close();
  });

  it('spend a balance for 100 together, from leases down to single holds, and one call crosses', async () => {
    const { slug } = await stack.workspace({ ...wide, credit: '0.405' });
    const { key } = await stack.key(slug);
    const { told, rounds } = await spendAll([key], 150, [client, other]);
    const charged = await chargedFor(told, 'insufficient_balance');
    say('two gateways, balance for 100', told, rounds, charged);
    expectCrossedOnce(charged, '0.405');
  });

  it('spend a hard monthly budget together, and one call crosses (contract: money/budget-mode)', async () => {
    const { slug } = await stack.workspace({ ...wide, budget: '0.405', budgetMode: 'hard' });
    const { key } = await stack.key(slug);
    const { told, rounds } = await spendAll([key], 150, [client, other]);
    const charged = await chargedFor(told, 'insufficient_balance');
    say('two gateways, budget for 100', told, rounds, charged);
    expectCrossedOnce(charged, '0.405');
  });

  it('spend a quota together, and one call crosses', async () => {
    const { slug } = await stack.workspace(wide);
    const { key } = await stack.key(slug, { quota: '0.405' });
    const { told, rounds } = await spendAll([key], 150, [client, other]);
    const charged = await chargedFor(told, 'quota_exceeded');
    say('two gateways, quota for 100', told, rounds, charged);
    expectCrossedOnce(charged, '0.405');
  });
});
