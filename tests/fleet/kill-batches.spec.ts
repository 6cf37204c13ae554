import { afterAll, beforeAll, expect, it } from 'vitest';
import { begin, type Client, costOf, lineOf, newClient, upload } from '#tests/gateway/batches/stage';
import { expectBalancedBooks } from '#tests/support/books';
import { commandLine } from '#tests/support/command';
import { eventually } from '#tests/support/eventually';
import { readLeft } from '#tests/support/fleet/accounts';
import { tellFigures } from '#tests/support/fleet/round';
import { type OwnStack, startStack } from '#tests/support/stack';

/** Lines of the batch; `npm run fleet -- --lines N kill-batches` takes more. */
const lines = Number(process.env.FLEET_BATCH_LINES ?? 200);
/** A job is polled again 90 s after its last poll began, or at once if the process that polled it was killed. */
const soonMs = 60_000;

let stack: OwnStack;
/** Those who wait for a statement of the gateway's. */
const awaited = new Map<string, () => void>();
const watchDatabase = () => (bytes: Buffer) => {
  for (const [text, resolve] of awaited) {
    if (!bytes.includes(text)) continue;
    awaited.delete(text);
    resolve();
  }
};
beforeAll(async () => {
  stack = await startStack({ watchDatabase });
});
afterAll(async () => {
  await stack.close();
});

/** The gateway sends its database a statement that holds this text, so many times. */
async function sends(text: string, times = 1): Promise<void> {
  for (let sent = 0; sent < times; sent += 1) {
    await new Promise<void>((resolve) => awaited.set(text, resolve));
  }
}

let kills = 0;
let slowestMs = 0;

/**
 * Kills the gateway once it sends the statements, and starts it again. @throws when it does not send them in time.
 * @param end then it is not killed any more.
 */
async function killAt(
  statements: readonly string[],
  {
    times = 1,
    end = new Promise<void>(() => {}),
  }: { readonly times?: number; readonly end?: Promise<void> } = {},
): Promise<void> {
  const startMs = performance.now();
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`the gateway did not send ${statements.join(', then ')} in time`));
    setTimeout(fail, soonMs).unref();
  });
  let over = false;
  const ended = end.then(() => {
    over = true;
  });
  const reached = (async () => {
    for (const text of statements) await sends(text, times);
  })();
  await Promise.race([reached, late, ended]);
  if (over) return;
  slowestMs = Math.max(slowestMs, performance.now() - startMs);
  await stack.kill('SIGKILL');
  kills += 1;
  await stack.start();
}

const unanswered = () => null;

/** Uploads and batches are begun again by their client, whose connection was broken off. */
async function uploadOverKills(own: Client, requests: readonly string[]): Promise<string> {
  for (const statement of ['INSERT INTO file_room', 'INSERT INTO resource']) {
    const killed = killAt([statement]);
    await Promise.all([upload(own, requests).catch(unanswered), killed]);
  }
  return (await upload(own, requests)).id;
}

async function createOverKills(own: Client, fileId: string): Promise<void> {
  for (const statements of [['INSERT INTO job'], ['INSERT INTO job', 'COMMIT']]) {
    const killed = killAt(statements);
    await Promise.all([begin(own, fileId).catch(unanswered), killed]);
  }
  await begin(own, fileId);
}

async function readBatches() {
  const { rows } = await stack.db.pool.query(
    `SELECT j.call_id AS "callId", j.upstream_id AS id, j.settled_at IS NOT NULL AS settled,
       j.cost_nano::text AS cost, count(b.*)::int AS lines, coalesce(sum(b.cost_nano), 0)::text AS "linesCost"
     FROM job j LEFT JOIN batch_line b ON b.call_id = j.call_id GROUP BY j.call_id`,
  );
  return rows;
}

it(`charges each of ${lines} lines once over kills from the upload to the charge`, {
  timeout: 900_000,
}, async () => {
  const own = await newClient(stack, { rpm: 1_000_000, tpm: null, concurrency: null, credit: '5000' });
  const requests = Array.from({ length: lines }, (_, index) =>
    lineOf(`line-${index}`, index % 10 === 9 ? { messages: 'none' } : {}),
  );
  const startMs = performance.now();
  const fileId = await uploadOverKills(own, requests);
  await createOverKills(own, fileId);
  // In the first write of results, and in a later one.
  await killAt(['INSERT INTO batch_line']);
  await killAt(['INSERT INTO batch_line'], { times: Math.max(1, Math.floor(lines / 1000)) });
  const open = async () => (await readBatches()).filter(({ settled }) => !settled).length;
  for (const statements of [
    ['INSERT INTO batch_line', 'INSERT INTO resource'],
    ['FROM batch_line WHERE call_id'],
    ['UPDATE job SET settled_at'],
    ['UPDATE job SET settled_at', 'COMMIT'],
  ]) {
    await killAt(statements, { end: eventually(open, 0, soonMs) });
  }
  await eventually(open, 0, soonMs);

  expect(kills).toBeGreaterThanOrEqual(6);
  const batches = await readBatches();
  for (const { callId, id, cost, lines: written, linesCost } of batches) {
    const { output_file_id, error_file_id } = await own.client.batches.retrieve(id);
    const results = await (await own.client.files.content(output_file_id ?? '')).text();
    const errors = await (await own.client.files.content(error_file_id ?? '')).text();
    const ids = `${results}${errors}`
      .trim()
      .split('\n')
      .map((line) => String(JSON.parse(line).custom_id));
    expect(new Set(ids).size).toBe(lines);
    expect([written, linesCost, cost]).toEqual([lines, String(costOf(results)), String(costOf(results))]);
    expect(costOf(results)).toBeGreaterThan(0n);
    // The log shows it with the same sum.
    const call = await stack.call(callId);
    expect(call.job).toMatchObject({ kind: 'batch', state: 'completed' });
  }
  await expectBalancedBooks(stack);
  await expect.poll(() => readLeft(stack)).toMatchObject({ holds: 0, owners: 1 });
  const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
  expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
  command.close();
  tellFigures('kills while batches run', {
    kills,
    batches: batches.length,
    lines: batches.reduce((sum, { lines: written }) => sum + written, 0),
    slowestPointMs: Math.round(slowestMs),
    ms: Math.round(performance.now() - startMs),
  });
});
