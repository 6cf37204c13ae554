import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { commandLine } from '#tests/support/command';
import { readLeft, readProvided, readSettled } from '#tests/support/fleet/accounts';
import { Client, codeOf, type Told, type Wish } from '#tests/support/fleet/client';
import { judge } from '#tests/support/fleet/judge';
import { callsASecondOf, drawing, faultsOf, tellFigures } from '#tests/support/fleet/round';
import { type OwnStack, startStack } from '#tests/support/stack';

const random = drawing();
const kills = faultsOf(4);
/** Among them, those that strike while the gateway starts and settles what the one before left: every fourth. */
const killsAtStart = Math.floor((kills + 2) / 4);
const callsASecond = callsASecondOf(30, 100);
/** What the load has seen between two kills, however fast the machine is. */
const between = { answered: 25, refused: 3, translated: 5 };

let stack: OwnStack;
let client: Client;
beforeAll(async () => {
  stack = await startStack();
  client = new Client(stack.url);
});
afterAll(async () => {
  client.close();
  await stack.close();
});

const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
const wishes: readonly Wish[] = [
  {},
  { maxTokens: 50 },
  { directive: 'fault/slow-first-byte?ms=150' },
  { stream: true },
  { stream: true, directive: 'pace/10/30' },
  { stream: true, directive: 'pace/25/100' },
  { directive: 'pace/10/40' },
  { model: 'test/falls-back' },
  { model: 'test/drained', stream: true, directive: 'pace/10/60', leaveAfter: 5 },
  { directive: 'fault/status-500' },
  { model: 'sandbox/only-responses', directive: 'pace/10/30' },
  { model: 'sandbox/only-responses', stream: true, directive: 'pace/10/60' },
  { model: 'sandbox/only-messages', directive: 'pace/10/40' },
  { model: 'sandbox/only-messages', stream: true, directive: 'pace/25/100' },
  { model: 'sandbox/only-generate-content', stream: true, directive: 'pace/10/30', leaveAfter: 5 },
  { model: 'sandbox/only-generate-content', stream: true, directive: 'pace/10/60' },
];

/** Keys of workspaces above and below the lease floor, with a cap, strict, and without money. */
async function makeKeys(): Promise<string[]> {
  const rich = await stack.workspace(wide);
  const low = await stack.workspace({ ...wide, credit: '0.60' });
  const strict = await stack.workspace({ ...wide, credit: '5', strict: true });
  const poor = await stack.workspace({ ...wide, credit: '0.005' });
  const keys = await Promise.all([
    stack.key(rich.slug),
    stack.key(rich.slug, { dailyCap: '50' }),
    stack.key(rich.slug, { quota: '0.50' }),
    stack.key(low.slug),
    stack.key(strict.slug),
    stack.key(poor.slug),
  ]);
  return keys.map(({ key }) => key);
}

/** Calls at a steady pace, whether or not anybody answers. */
function startLoad(keys: readonly string[]) {
  const told: Promise<Told>[] = [];
  const seen = { answered: 0, refused: 0, translated: 0 };
  const timer = setInterval(() => {
    const key = keys[told.length % keys.length] ?? '';
    const wish = wishes[random(wishes.length)];
    const call = client.call(key, wish);
    told.push(call);
    void call.then((one) => {
      if (one.status === 200 && one.whole) {
        seen.answered += 1;
        if (wish?.model?.startsWith('sandbox/only-')) seen.translated += 1;
      } else if (one.status === 402) seen.refused += 1;
    });
  }, 1000 / callsASecond);
  return {
    /** Resolves once so many more calls were answered, some of them translated, and refused. */
    until: async (more: typeof seen) => {
      const { answered, refused, translated } = seen;
      while (
        seen.answered < answered + more.answered ||
        seen.refused < refused + more.refused ||
        seen.translated < translated + more.translated
      )
        await pause(20);
    },
    stop: () => {
      clearInterval(timer);
      return Promise.all(told);
    },
  };
}

/** Kills the gateway while it starts. */
async function killAtStart(afterMs: number): Promise<void> {
  const starting = stack.start().catch(() => {});
  await pause(afterMs);
  const exited = once(stack.gateway(), 'exit');
  stack.gateway().kill('SIGKILL');
  await Promise.all([exited, starting]);
}

it(`charges every call once and loses none over ${kills} kills under load (contract: durability/kill)`, {
  timeout: 600_000,
}, async () => {
  const keys = await makeKeys();
  const { slug } = await stack.workspace(wide);
  const oneSlot = (await stack.key(slug, { concurrency: 1 })).key;
  const load = startLoad(keys);
  const slots: Promise<Told>[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    if (kill % 4 === 1) {
      await killAtStart(random(1500));
      continue;
    }
    if (kill > 0) await stack.start();
    // The stream that held the only slot died with the process.
    const next = await client.ask(oneSlot);
    expect(`${next.status} ${codeOf(next)}`).toBe('200 ');
    const holding = Promise.withResolvers<void>();
    slots.push(Promise.resolve(next));
    slots.push(client.call(oneSlot, { stream: true, directive: 'pace/20/2000' }, holding.resolve));
    await holding.promise;
    await load.until(between);
    await pause(random(500));
    await stack.kill('SIGKILL');
  }
  await stack.start();
  slots.push(client.ask(oneSlot));
  await load.until(between);
  const told = [...(await load.stop()), ...(await Promise.all(slots))];
  expect((await slots.at(-1))?.status).toBe(200);

  await expectBalancedBooks(stack);
  const figures = { kills, ...judge(told, await readSettled(stack, told), await readProvided(stack)) };
  tellFigures('kills under load', figures);
  const underLoad = kills - killsAtStart;
  expect(figures.answered).toBeGreaterThanOrEqual(between.answered * underLoad);
  expect(figures.refused).toBeGreaterThanOrEqual(between.refused * underLoad);
  // At least the stream that holds the only slot of its key.
  expect(figures.interrupted).toBeGreaterThanOrEqual(underLoad);
  await expect.poll(() => readLeft(stack)).toMatchObject({ holds: 0, owners: 1 });
  const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
  expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
  command.close();
});
