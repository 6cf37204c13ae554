import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Moment, points, pointsWithoutDatabase } from '#tests/fleet/points/points';
import { film, filmNano, shapes } from '#tests/fleet/points/shapes';
import { expectBalancedBooks } from '#tests/support/books';
import { eventually } from '#tests/support/eventually';
import { readLeft, readProvided, readSettled } from '#tests/support/fleet/accounts';
import { Client, type Told, type Wish } from '#tests/support/fleet/client';
import { judge } from '#tests/support/fleet/judge';
import { startLoad } from '#tests/support/fleet/load';
import { callsASecondOf, drawing, faultsOf, tellFigures } from '#tests/support/fleet/round';
import { type OwnStack, startStack } from '#tests/support/stack';

const database = process.env.FLEET_DATABASE === 'embedded' ? 'embedded' : 'server';
const random = drawing();
const kills = faultsOf(4);
/** Calls that are answered between two kills, beside the steady load. */
const between = Number(process.env.FLEET_CALLS_BETWEEN ?? 0);
const wide = { rpm: 1_000_000, tpm: null, concurrency: null };
const wishes: readonly Wish[] = [
  {},
  { stream: true },
  { stream: true, directive: 'pace/15/40' },
  { directive: 'pace/10/30' },
  { model: 'test/falls-back' },
  { directive: 'fault/status-500' },
];

let stack: OwnStack;
let client: Client;
/** Those who wait for a statement of the gateway's. */
const awaited = new Map<string, (() => void)[]>();
const watchDatabase = () => (bytes: Buffer) => {
  for (const [text, resolves] of awaited) {
    if (!bytes.includes(text)) continue;
    awaited.delete(text);
    for (const resolve of resolves) resolve();
  }
};
/** The provider's memory holds a few minutes of calls alone. */
const folder = mkdtempSync(join(tmpdir(), 'gateway-points-'));
beforeAll(async () => {
  stack = await startStack({ database, watchDatabase, providerLog: join(folder, 'provider.jsonl') });
  client = new Client(stack.url);
}, 300_000);
afterAll(async () => {
  client.close();
  await stack.close();
  rmSync(folder, { recursive: true, force: true });
});

const sends = (text: string) =>
  new Promise<void>((resolve) => awaited.set(text, [...(awaited.get(text) ?? []), resolve]));
const found = async (text: string, values: readonly string[]) =>
  ((await stack.db.pool.query(text, [...values])).rowCount ?? 0) > 0;

/** A chat call in the only slot of its key. */
function beginChat(key: string, wish: Wish, mark: string): Moment {
  const [head, middle] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let pieces = 0;
  const told = client.call(key, wish, head.resolve, () => {
    pieces += 1;
    if (pieces === 3) middle.resolve();
  });
  const posted = async () =>
    eventually(
      async () => found('SELECT 1 FROM call WHERE client_request_id = $1', [(await told).mark]),
      true,
    );
  return { mark, sandbox: stack.sandbox, head: head.promise, middle: middle.promise, told, sends, posted };
}

/** A job; `id` resolves to its create answer's, '' when none came. */
function beginJob(key: string, mark: string): Moment & { readonly id: Promise<string> } {
  const path = `${stack.url}/v1/videos`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const created = fetch(path, { method: 'POST', headers, body: JSON.stringify(film(mark)) });
  const id = created
    .then((answer) => answer.json())
    .then(
      ({ id = '' }) => String(id),
      () => '',
    );
  const told = id.then((): Told => ({ mark, status: 200, id: '', whole: true, text: '' }));
  const posted = async () => {
    const query = 'SELECT 1 FROM job WHERE upstream_id = $1 AND settled_at IS NOT NULL';
    await eventually(async () => {
      await fetch(`${path}/${await id}`, { headers }).catch(() => null);
      return (await id) === '' || (await found(query, [await id]));
    }, true);
  };
  const head = created.catch(() => null);
  return { mark, sandbox: stack.sandbox, head, middle: head, told, sends, posted, id };
}

it(`kills at named points lose no call, charge none twice and leave no slot (${database} database, ${kills} kills)`, {
  timeout: 1_800_000,
}, async () => {
  const [rich, low] = await Promise.all([
    stack.workspace({ ...wide, credit: '5000' }),
    stack.workspace({ ...wide, credit: '0.60' }),
  ]);
  const keys = [
    await stack.key(rich.slug),
    await stack.key(rich.slug, { dailyCap: '4000' }),
    await stack.key(low.slug),
  ].map(({ key }) => key);
  const slot = (await stack.key(rich.slug, { concurrency: 1 })).key;
  const load = startLoad([client], keys, wishes, callsASecondOf(20, 60), random);
  const told: Promise<Told>[] = [];
  const films: Promise<string>[] = [];
  const names = database === 'server' ? Object.keys(points) : pointsWithoutDatabase;
  const cases = names.flatMap((point) => [...Object.keys(shapes), 'job'].map((shape) => ({ point, shape })));
  const first = random(cases.length);
  let freeMs = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    // 5 is prime to the number of cases: every case comes once before one comes twice.
    const { point, shape } = cases[(first + kill * 5) % cases.length] ?? { point: '', shape: '' };
    const mark = `k${kill}x${random(2 ** 30)}`;
    const moment =
      shape === 'job' ? beginJob(keys[0] ?? '', mark) : beginChat(slot, wishOf(shape, mark), mark);
    if ('id' in moment) films.push(moment.id as Promise<string>);
    else told.push(moment.told);
    const beyond = moment.told.then(() => new Promise((resolve) => setTimeout(resolve, 3_000)));
    await Promise.race([points[point]?.(moment), beyond]);
    await stack.kill('SIGKILL');
    await stack.start();
    const startMs = performance.now();
    // The call that held the only slot died with the process.
    await eventually(async () => {
      const next = client.call(slot);
      told.push(next);
      return (await next).status;
    }, 200);
    freeMs = Math.max(freeMs, performance.now() - startMs);
    for (let made = 0; made < between; made += 20) {
      const calls = Array.from({ length: 20 }, (_, at) => client.call(keys[at % 2] ?? ''));
      told.push(...calls);
      await Promise.all(calls);
    }
  }
  const all = [...(await load.stop()), ...(await Promise.all(told))];
  const ids = (await Promise.all(films)).filter((id) => id !== '');
  // A job that was being polled when its process was killed is due again after 90 s: they have passed.
  await stack.db.pool.query(
    `UPDATE job SET next_poll_at = next_poll_at - interval '90 s' WHERE settled_at IS NULL`,
  );
  const open = async () => (await stack.db.pool.query('SELECT 1 FROM job WHERE settled_at IS NULL')).rowCount;
  await eventually(open, 0);
  await expectBalancedBooks(stack);
  const figures = judge(all, await readSettled(stack, all), await readProvided(stack));
  const { rows: jobs } = await stack.db.pool.query(
    'SELECT upstream_id AS id, cost_nano::text AS cost FROM job',
  );
  for (const id of ids) {
    expect(
      jobs.filter((job) => job.id === id),
      `the job ${id}`,
    ).toEqual([{ id, cost: String(filmNano) }]);
  }
  await expect.poll(() => readLeft(stack)).toMatchObject({ holds: 0, owners: 1 });
  tellFigures(`kills at named points, ${database} database`, {
    kills,
    ...figures,
    jobs: jobs.length,
    slowestSlotMs: Math.round(freeMs),
  });
});

function wishOf(shape: string, mark: string): Wish {
  return shapes[shape]?.(mark) ?? {};
}
