import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectBalancedBooks } from '#tests/support/books';
import { commandLine } from '#tests/support/command';
import { eventually } from '#tests/support/eventually';
import { drawing, faultsOf, tellFigures } from '#tests/support/fleet/round';
import { type Second, startSecond } from '#tests/support/fleet/second';
import { type OwnStack, startStack } from '#tests/support/stack';

const random = drawing();
const kills = faultsOf(2);
const createsASecond = 16;
/** No more of them wait for their answer. */
const mostCreating = 40;
/** Jobs that clients know of between two kills, however fast the machine is. */
const createsBetween = 12;
/** How long clients go on asking after the last kill. */
const afterwardsMs = 3_000;
/** Four seconds of film, nano-dollars. */
const price = 400_000_000n;

let stack: OwnStack;
let second: Second;
beforeAll(async () => {
  stack = await startStack();
  second = await startSecond(stack);
});
afterAll(async () => {
  await second.close();
  await stack.close();
});

/** What a client wants of a video: how the job goes, and what the client does with it. */
interface Wish {
  readonly how: string;
  /** Asks every so many ms until it sees an end; null: never asks. */
  readonly everyMs: number | null;
  /** Deletes it after so many ms. */
  readonly deleteAfterMs?: number;
  /** What it must be charged in the end; null: as the moment of its removal decides. */
  readonly charge: bigint | null;
}

const wishes: readonly Wish[] = [
  { how: 'job_ms=0', everyMs: 100, charge: price },
  { how: 'job_ms=800', everyMs: 100, charge: price },
  { how: 'job_ms=800', everyMs: null, charge: price },
  { how: 'job_ms=2500', everyMs: 300, charge: price },
  { how: 'job=failed&job_ms=500', everyMs: 100, charge: 0n },
  { how: 'job=failed&job_ms=500', everyMs: null, charge: 0n },
  { how: 'get=fault/slow-first-byte&job_ms=500', everyMs: null, charge: price },
  { how: 'get=fault/slow-first-byte&job_ms=500', everyMs: 500, charge: price },
  { how: 'post=fault/slow-first-byte&job_ms=0', everyMs: null, charge: price },
  { how: 'job=never&job_ms=1000000000', everyMs: null, deleteAfterMs: 200, charge: 0n },
  { how: 'job=never&job_ms=0', everyMs: null, deleteAfterMs: 300, charge: price },
  { how: 'job_ms=700', everyMs: 100, deleteAfterMs: 600, charge: null },
];

interface Told {
  readonly wish: Wish;
  /** X-Request-Id of the create answer, once all of it came; null: the client knows of no job. */
  callId: string | null;
  /** The provider's id. */
  id: string;
  ended: string | null;
  deleted: boolean;
}

/** The gateway that a request goes to: the one that is killed, most of the time. */
function anyUrl(): string {
  return random(10) < 7 ? stack.url : second.url;
}

async function ask(key: string, path: string, method: string, body?: object) {
  try {
    const answer = await fetch(`${anyUrl()}/v1/videos${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const told = await answer.json();
    return { status: answer.status, callId: answer.headers.get('x-request-id'), body: told };
  } catch {
    return null;
  }
}

/**
 * One video as its client lives it. Never rejects.
 * @param answered told when its create was answered, or broken off.
 */
async function live(
  key: string,
  wish: Wish,
  over: () => boolean,
  answered: (created: boolean) => void,
): Promise<Told> {
  const told: Told = { wish, callId: null, id: '', ended: null, deleted: false };
  const prompt = `A film [[film?${wish.how}]]`;
  const made = await ask(key, '', 'POST', { model: 'sandbox/film', prompt, seconds: '4', size: '720x1280' });
  answered(made?.status === 200);
  if (made?.status !== 200) return told;
  told.callId = made.callId;
  told.id = made.body.id;
  const startMs = performance.now();
  while (!over()) {
    if (wish.deleteAfterMs !== undefined && performance.now() - startMs >= wish.deleteAfterMs) {
      const answer = await ask(key, `/${told.id}`, 'DELETE');
      if (answer?.status === 200) told.deleted = true;
      // 404: an earlier DELETE was done though its answer was lost.
      if (answer?.status === 200 || answer?.status === 404) break;
    } else if (wish.everyMs === null && wish.deleteAfterMs === undefined) break;
    else if (wish.everyMs !== null) {
      const answer = await ask(key, `/${told.id}`, 'GET');
      const status = answer?.status === 200 ? answer.body.status : null;
      if (status === 'completed' || status === 'failed') told.ended = status;
      if (told.ended !== null && wish.deleteAfterMs === undefined) break;
    }
    await pause(wish.everyMs ?? 50);
  }
  return told;
}

async function idsOf(condition: string): Promise<string[]> {
  const { rows } = await stack.db.pool.query(`SELECT upstream_id AS id FROM job WHERE ${condition}`);
  return rows.map((row) => row.id);
}

/**
 * Deletes the unsettled jobs that would run for ever: those whose create answer was lost, and those whose client gave up
 * before its DELETE was answered.
 * @returns what is unsettled.
 */
async function endWhatRunsOn(key: string, told: readonly Told[]): Promise<string[]> {
  const wishOf = new Map(told.map(({ id, wish }) => [id, wish]));
  const unsettled = await idsOf('settled_at IS NULL');
  for (const id of unsettled) {
    const wish = wishOf.get(id);
    if (wish === undefined || wish.how.startsWith('job=never')) await ask(key, `/${id}`, 'DELETE');
  }
  return unsettled;
}

interface Booked {
  readonly cost: bigint;
  readonly state: string;
}

async function readBooked(): Promise<Map<string, Booked>> {
  const { rows } = await stack.db.pool.query('SELECT call_id, cost_nano::text AS cost, state FROM job');
  return new Map(rows.map((row) => [row.call_id, { cost: BigInt(row.cost), state: row.state }]));
}

it(`settles every job once over ${kills} kills while they are created and polled`, {
  timeout: 600_000,
}, async () => {
  const { slug } = await stack.workspace({ rpm: 1_000_000, tpm: null, concurrency: null, credit: '5000' });
  const keys = await Promise.all([stack.key(slug), stack.key(slug, { dailyCap: '4000' })]);
  let over = false;
  let creates = 0;
  let creating = 0;
  const lives: Promise<Told>[] = [];
  const timer = setInterval(() => {
    const key = keys[lives.length % keys.length]?.key ?? '';
    const wish = wishes[lives.length % wishes.length];
    // A machine that is behind is not asked for more.
    if (wish && creating < mostCreating) {
      creating += 1;
      lives.push(
        live(
          key,
          wish,
          () => over,
          (created) => {
            creating -= 1;
            creates += created ? 1 : 0;
          },
        ),
      );
    }
  }, 1000 / createsASecond);
  for (let kill = 0; kill < kills; kill += 1) {
    if (kill > 0) await stack.start();
    const wanted = creates + createsBetween;
    while (creates < wanted) await pause(20);
    await pause(random(700));
    await stack.kill('SIGKILL');
  }
  await stack.start();
  await pause(1_000);
  clearInterval(timer);
  await pause(afterwardsMs);
  over = true;
  const told = await Promise.all(lives);
  // A job that was being polled when its process was killed is due again after 90 s: they have passed.
  await stack.db.pool.query(
    `UPDATE job SET next_poll_at = next_poll_at - interval '90 s' WHERE settled_at IS NULL`,
  );
  const [{ key = '' } = {}] = keys;
  await eventually(() => endWhatRunsOn(key, told), [], 300_000);

  const booked = await readBooked();
  const known = told.filter((one) => one.callId !== null);
  for (const { callId, wish, id } of known) {
    const row = booked.get(callId ?? '');
    expect(row, `the job ${id} of call ${callId}`).toBeDefined();
    if (!row) continue;
    if (wish.charge !== null)
      expect(row.cost, `the price of ${id} (${wish.how}, ${row.state})`).toBe(wish.charge);
    else expect([0n, price]).toContain(row.cost);
  }
  const rows = [...booked.values()];
  const figures = {
    kills,
    creates: told.length,
    known: known.length,
    unknown: rows.length - known.length,
    charged: rows.filter((row) => row.cost > 0n).length,
    released: rows.filter((row) => row.cost === 0n).length,
    deleted: known.filter((one) => one.deleted).length,
    seenEnded: known.filter((one) => one.ended !== null).length,
  };
  tellFigures('kills while jobs run', figures);
  expect(figures.known).toBeGreaterThanOrEqual(kills * createsBetween);
  await expectBalancedBooks(stack);
  const command = commandLine(stack.databaseUrl, { DATA_DIR: stack.dataDir });
  expect(await command.run('ledger', 'verify')).toMatchObject({ exit: 0 });
  command.close();
});
