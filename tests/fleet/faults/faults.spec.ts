import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Fleet, faults } from '#tests/fleet/faults/faults';
import { type Footprint, footprintOf, growthOf } from '#tests/fleet/faults/footprint';
import { expectBalancedBooks } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { readProvided, readSettled } from '#tests/support/fleet/accounts';
import { Client, type Told, type Wish } from '#tests/support/fleet/client';
import { judge } from '#tests/support/fleet/judge';
import { startLoad } from '#tests/support/fleet/load';
import { drawing, faultsOf, tellFigures } from '#tests/support/fleet/round';
import { startSecond } from '#tests/support/fleet/second';
import { startRedis, type TestRedis } from '#tests/support/redis/server';
import { startStack } from '#tests/support/stack';
import { tcpProxy } from '#tests/support/tcp-proxy';

const random = drawing();
const strikes = faultsOf(3);
/** From one fault to the next, s; a soak takes 20 (`npm run fleet -- --every 20`). */
const everyMs = Number(process.env.FLEET_EVERY_S ?? 3) * 1000;
const callsASecond = Number(process.env.FLEET_CALLS_A_SECOND ?? 20);
const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
const wishes: readonly Wish[] = [
  {},
  { stream: true },
  { directive: 'fault/slow-first-byte?ms=150' },
  { stream: true, directive: 'pace/20/60' },
  { model: 'test/falls-back' },
  { model: 'test/drained', stream: true, directive: 'pace/10/60', leaveAfter: 5 },
  { directive: 'fault/status-500' },
];

let fleet: Fleet;
let redis: TestRedis;
let clients: Client[];
const folder = mkdtempSync(join(tmpdir(), 'gateway-faults-'));
beforeAll(async () => {
  redis = await startRedis();
  const { hostname, port } = new URL(redis.url);
  const redisProxy = await tcpProxy({ host: hostname, port: Number(port) });
  const stack = await startStack({
    console: true,
    providerLog: join(folder, 'provider.jsonl'),
    env: { REDIS_URL: `redis://127.0.0.1:${redisProxy.port}`, LOG_LEVEL: 'fatal' },
  });
  fleet = { stack, second: await startSecond(stack), redisUrl: redis.url, redisProxy };
  clients = [new Client(stack.url), new Client(fleet.second.url)];
}, 300_000);
afterAll(async () => {
  for (const client of clients) client.close();
  await fleet.second.close();
  await fleet.stack.close();
  await fleet.redisProxy.close();
  await redis.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What is needed of it later, in one piece: a text that came in pieces keeps all of them in memory. */
const short = (one: Told): Told => {
  const needed = one.status >= 400 ? one.text.slice(0, 2_000) : one.text.slice(-200);
  return { ...one, text: Buffer.from(needed).toString() };
};

it(`two gateways charge every call once and free every slot through ${strikes} random faults (contract: durability/recovery)`, {
  timeout: 7_200_000,
}, async () => {
  const { stack, second } = fleet;
  const rich = await stack.workspace({ ...wide, credit: '5000' });
  const low = await stack.workspace({ ...wide, credit: '0.60' });
  const keys = await Promise.all([
    stack.key(rich.slug),
    stack.key(rich.slug, { dailyCap: '4000', rpm: 100_000, tpm: 100_000_000, concurrency: 500 }),
    stack.key(low.slug),
  ]);
  const slots = await Promise.all([
    stack.key(rich.slug, { concurrency: 1 }),
    stack.key(rich.slug, { concurrency: 1 }),
  ]);
  const load = startLoad(
    clients,
    keys.map(({ key }) => key),
    wishes,
    callsASecond,
    random,
    short,
  );
  const samples: Footprint[] = [];
  const names = Object.keys(faults);
  const first = random(names.length);
  for (let strike = 0; strike < strikes; strike += 1) {
    await pause(random(everyMs / 2));
    // In the only slot of its key.
    for (const [at, { key }] of slots.entries()) {
      load.add(clients[at], key, { stream: true, directive: 'pace/20/200' });
    }
    const name = names[(first + strike) % names.length] ?? '';
    await faults[name]?.(fleet, 500 + random(everyMs / 2));
    await pause(everyMs / 2);
    samples.push(footprintOf(second.process.pid ?? 0));
  }
  const told = await load.stop();
  const freeMs = performance.now();
  for (const [at, { key }] of slots.entries()) {
    await eventually(async () => {
      const next = await clients[at]?.call(key);
      if (next) told.push(next);
      return next?.status;
    }, 200);
  }
  const slowestSlotMs = Math.round(performance.now() - freeMs);
  await expectBalancedBooks(stack);
  const figures = judge(told, await readSettled(stack, told), await readProvided(stack));
  const { early, late } = growthOf(samples);
  tellFigures('random faults', {
    strikes,
    ...figures,
    slowestSlotMs,
    mostEarlyMiB: early.rssMiB,
    mostLateMiB: late.rssMiB,
    mostEarlyDescriptors: early.descriptors,
    mostLateDescriptors: late.descriptors,
  });
  expect(figures.answered).toBeGreaterThan(0);
  if (samples.length >= 40) {
    expect(late.rssMiB).toBeLessThan(early.rssMiB * 1.25);
    expect(late.descriptors).toBeLessThan(early.descriptors + 100);
  }
});
