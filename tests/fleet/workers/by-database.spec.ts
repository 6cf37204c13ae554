import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROW_OWNER } from '#lib/gateway/admission/database/money-in-database';
import { openDatabaseJournal } from '#lib/gateway/settlement/by-database/journal';
import { expectBalancedBooks } from '#tests/support/books';
import { commandLine } from '#tests/support/command';
import { eventually } from '#tests/support/eventually';
import { readLeft, readProvided, readSettled } from '#tests/support/fleet/accounts';
import { Client, type Told, type Wish } from '#tests/support/fleet/client';
import { judge } from '#tests/support/fleet/judge';
import { callsASecondOf, drawing, faultsOf, tellFigures } from '#tests/support/fleet/round';
import { busyIn } from '#tests/support/shared/faults';
import { type OwnStack, startStack } from '#tests/support/stack';

const random = drawing();
const kills = faultsOf(2);
const callsASecond = callsASecondOf(20, 40);
const answeredBetween = 25;
const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
const wishes: readonly Wish[] = [
  {},
  { directive: 'fault/slow-first-byte?ms=150' },
  { stream: true },
  { stream: true, directive: 'pace/25/100' },
  { directive: 'pace/10/40' },
  { model: 'test/falls-back' },
  { directive: 'fault/status-500' },
];

let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack({ env: { SETTLEMENT: 'database' } });
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await stack.close();
});

async function openCalls(): Promise<number> {
  const { rows } = await stack.db.pool.query('SELECT count(*)::int AS open FROM open_call');
  return rows[0].open;
}

/** The time passes after which calls of a dead process count as ended. */
async function letExpire(): Promise<void> {
  await stack.db.pool.query(`UPDATE open_call SET expires_at = now() - interval '1 second'`);
}

it(`a process without a journal charges every call once and loses none over ${kills} kills under load (contract: durability/settlement-modes)`, {
  timeout: 600_000,
}, async () => {
  const rich = await stack.workspace(wide);
  const strict = await stack.workspace({ ...wide, credit: '5', strict: true });
  const poor = await stack.workspace({ ...wide, credit: '0.005' });
  const keys = await Promise.all([
    stack.key(rich.slug),
    stack.key(rich.slug, { dailyCap: '50' }),
    stack.key(strict.slug),
    stack.key(poor.slug),
  ]);
  const told: Promise<Told>[] = [];
  let answered = 0;
  const timer = setInterval(() => {
    const { key = '' } = keys[told.length % keys.length] ?? {};
    const call = client.call(key, wishes[random(wishes.length)]);
    told.push(call);
    void call.then((one) => {
      if (one.status === 200 && one.whole) answered += 1;
    });
  }, 1000 / callsASecond);
  for (let kill = 0; kill <= kills; kill += 1) {
    const before = answered;
    while (answered < before + answeredBetween) await pause(20);
    if (kill === kills) break;
    const headed = Promise.withResolvers<void>();
    told.push(client.ask(keys[0]?.key ?? '', { stream: true, directive: 'pace/100/1000' }, headed.resolve));
    await headed.promise;
    await expect
      .poll(async () => {
        const found = 'SELECT count(*)::int AS seen FROM open_call WHERE checkpoint IS NOT NULL';
        return (await stack.db.pool.query(found)).rows[0].seen;
      })
      .toBeGreaterThan(0);
    await stack.kill('SIGKILL');
    expect(await openCalls()).toBeGreaterThan(0);
    await letExpire();
    await stack.start();
  }
  clearInterval(timer);
  const all = await Promise.all(told);
  await eventually(openCalls, 0);
  await expectBalancedBooks(stack);
  // What does not depend on the database waits in memory while it does not answer in time, and dies with the process.
  const inTime = !busyIn(stack.log());
  const kept = all.filter(({ status }) => inTime || status < 400);
  const figures = judge(kept, await readSettled(stack, kept), await readProvided(stack));
  tellFigures('kills without a journal', { kills, ...figures });
  expect(figures.interrupted).toBeGreaterThanOrEqual(kills);
  await expect.poll(() => readLeft(stack)).toMatchObject({ holds: 0, leases: 0, owners: 1 });
  const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
  expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
  command.close();
});

it('a call that was ended because its process was not heard from is not charged again by that process', async () => {
  const { slug } = await stack.workspace(wide);
  const { key } = await stack.key(slug);
  const headed = Promise.withResolvers<void>();
  const mark = randomUUID();
  const wish = { stream: true, directive: `fault/stall@3?mark=${mark}` };
  const long = client.ask(key, wish, headed.resolve);
  await headed.promise;
  // Another process that claims finds it.
  const other = openDatabaseJournal({
    pool: stack.db.pool,
    ownerId: ROW_OWNER,
    onPosted: () => undefined,
    report: (error) => {
      throw error;
    },
  });
  while ((await openCalls()) > 0) {
    await letExpire();
    await other.endExpired(true);
  }
  await other.close();
  await stack.sandbox.release(mark);
  const told = await long;
  const [row, ...more] = (await readSettled(stack, [told])).get(told.mark) ?? [];
  expect(more).toEqual([]);
  expect(row?.endReason).toBe('interrupted');
  await expectBalancedBooks(stack);
});
