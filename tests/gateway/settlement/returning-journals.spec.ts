import { cpSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyLedger } from '#lib/control/billing/verify';
import { dropPartitions, makePartitions } from '#lib/control/retention/partitions';
import { startDrain } from '#lib/gateway/settlement/drain';
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import { endOwn } from '#lib/gateway/settlement/once';
import type { CallRecord, Entry } from '#lib/gateway/settlement/pure/entry';
import { recover } from '#lib/gateway/settlement/recover';
import { createIds } from '#lib/platform/ids';
import { createDatabase, type TestDatabase } from '#tests/support/database';
import {
  type Customer,
  callOf,
  closeOf,
  createCustomer,
  newDirectory,
  newId,
  openOf,
  refusedOf,
} from '#tests/support/settlement';

let database: TestDatabase;
let pool: Pool;
let customer: Customer;

beforeAll(async () => {
  database = await createDatabase();
  pool = new Pool({ connectionString: database.url });
  await makePartitions(pool, Date.now());
});
beforeEach(async () => {
  customer = await createCustomer(pool);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const longAgoMs = Date.now() - 200 * 86_400_000;
const ids = createIds({ now: () => longAgoMs, mono: () => 0 });

/** A call of a week that retention deletes as soon as it looks. */
const old = (given: Partial<CallRecord> = {}) =>
  callOf(customer, { id: ids.newId() ?? '', atMs: longAgoMs, costNano: 10n, ...given });
/** Start and end of such a call. */
const whole = (call: CallRecord): Entry[] => [openOf(call), closeOf(call)];

/** A process with a journal of its own. @param mostHeld entries in memory; the others are left to its files. */
async function startProcess(given: { ownerId?: string; mostHeld?: number } = {}) {
  const { ownerId = newId(), mostHeld = 50_000 } = given;
  const dir = newDirectory();
  const journal = openJournal(dir, ownerId, {
    report: () => {},
    onWritable: () => {},
    onFailure: (error) => {
      throw error;
    },
    mostHeld,
  });
  const drain = startDrain({
    pool,
    journal,
    onPosted: () => {},
    report: () => {},
    schedule: () => () => {},
    batchSize: 3,
  });
  const append = async (entries: readonly Entry[]) => {
    for (const entry of entries) await journal.append(entry);
  };
  return { dir, ownerId, journal, drain, append };
}

/** What a directory looks like at this moment, for later. */
function copyOf(dir: string): string {
  const copy = newDirectory();
  cpSync(dir, copy, { recursive: true });
  return copy;
}

async function recoverFrom(dir: string) {
  const reports: string[] = [];
  const found = await recover({
    pool,
    dir,
    nowMs: Date.now(),
    report: (error) => reports.push(error.message),
  });
  return { ...found, reports };
}

/** Retention deletes every call of before. */
async function forget(): Promise<void> {
  await dropPartitions(pool, Date.now(), 90);
  const { rows } = await pool.query('SELECT 1 FROM call WHERE workspace_id = $1', [customer.workspaceId]);
  expect(rows).toEqual([]);
}

async function spent(): Promise<bigint> {
  const { rows } = await pool.query('SELECT balance_nano FROM workspace WHERE id = $1', [
    customer.workspaceId,
  ]);
  return 1_000_000_000_000n - BigInt(rows[0]?.balance_nano);
}

/** Comes back again and again, with its calls deleted in between: nothing is posted. */
async function expectNothingMore(dir: string, posted: bigint): Promise<void> {
  for (let turn = 0; turn < 2; turn++) {
    await forget();
    await recoverFrom(copyOf(dir));
    expect(await spent()).toBe(posted);
  }
  expect((await verifyLedger({ pool })).checks.filter((check) => check.rows.length > 0)).toEqual([]);
}

describe('a journal that comes back after its calls were deleted posts nothing twice (contract: money/once)', () => {
  it('after it was drained by its own process, in memory and from its files', async () => {
    const { dir, journal, drain, append } = await startProcess({ mostHeld: 4 });
    await append(Array.from({ length: 10 }, () => whole(old())).flat());
    const { call } = refusedOf(customer);
    const refused = old({ ...call, id: ids.newId() ?? '', atMs: longAgoMs });
    await append([{ kind: 'refused', callId: refused.id, call: refused }]);
    const files = copyOf(dir);
    await drain.drainNow();
    expect(await spent()).toBe(100n);
    await journal.close();
    await expectNothingMore(files, 100n);
  });

  it('after it was drained in part: the rest is posted, once', async () => {
    const { dir, journal, append, ownerId } = await startProcess({ mostHeld: 4 });
    await append(Array.from({ length: 10 }, () => whole(old())).flat());
    const files = copyOf(dir);
    const half = startDrain({
      pool: failingAfter(2),
      journal,
      onPosted: () => {},
      report: () => {},
      schedule: () => () => {},
      batchSize: 3,
    });
    await expect(half.drainNow()).rejects.toThrow('the process was killed');
    expect([30n, 40n, 50n, 60n]).toContain(await spent());
    await forget();
    await recoverFrom(copyOf(files));
    expect(await spent()).toBe(100n);
    await expectNothingMore(files, 100n);
    const { rows } = await pool.query('SELECT ended FROM journal_position WHERE owner_id = $1', [ownerId]);
    expect(rows).toEqual([{ ended: true }]);
  });

  it('after a start had posted it, killed before it could delete the files', async () => {
    const { dir, append } = await startProcess();
    const open = old({ costNano: 5n });
    await append([openOf(open), { kind: 'checkpoint', callId: open.id, call: open }, ...whole(old())]);
    const files = copyOf(dir);
    await recoverFrom(dir);
    expect(await spent()).toBe(15n);
    await expectNothingMore(files, 15n);
  });

  it('after a start was killed between its batches', async () => {
    const { dir, append } = await startProcess();
    const open = old({ costNano: 5n });
    const calls = Array.from({ length: 1_500 }, () => old());
    await append([openOf(open), { kind: 'checkpoint', callId: open.id, call: open }]);
    await Promise.all(calls.flatMap(whole).map((entry) => append([entry])));
    const files = copyOf(dir);
    await expect(
      recover({ pool: failingAfter(1), dir, nowMs: Date.now(), report: () => {} }),
    ).rejects.toThrow('the process was killed');
    expect(await spent()).toBe(10_000n);
    await forget();
    await recoverFrom(dir);
    expect(await spent()).toBe(15_005n);
    await expectNothingMore(files, 15_005n);
  });

  it('with the records that were set aside and posted later', async () => {
    const late = { workspaceId: newId(), keyId: newId() };
    const { dir, journal, drain, append } = await startProcess();
    const orphan = callOf(late, { id: ids.newId() ?? '', atMs: longAgoMs, costNano: 7n });
    await append([...whole(old()), ...whole(orphan), ...whole(old())]);
    await drain.drainNow();
    await journal.close();
    const files = copyOf(dir);
    expect(readdirSync(files)).toContainEqual(expect.stringMatching(/\.rejected$/));
    await recoverFrom(dir);
    expect(readdirSync(dir)).toEqual([expect.stringMatching(/\.rejected$/)]);
    await pool.query(`INSERT INTO workspace (id, slug, name) VALUES ($1, $2, 'late')`, [
      late.workspaceId,
      `late-${late.workspaceId}`,
    ]);
    await recoverFrom(dir);
    expect(readdirSync(dir)).toEqual([]);
    const balance = async () =>
      (await pool.query('SELECT balance_nano::text AS nano FROM workspace WHERE id = $1', [late.workspaceId]))
        .rows;
    expect(await balance()).toEqual([{ nano: '-7' }]);
    await expectNothingMore(files, 20n);
    expect(await balance()).toEqual([{ nano: '-7' }]);
  });

  it('with calls that were posted while the disk refused to keep one before them', async () => {
    const { dir, ownerId, journal, drain, append } = await startProcess();
    const orphan = callOf(
      { workspaceId: newId(), keyId: newId() },
      { id: ids.newId() ?? '', atMs: longAgoMs },
    );
    await append([...whole(old()), ...whole(orphan), ...whole(old())]);
    const files = copyOf(dir);
    mkdirSync(join(dir, `${ownerId}.rejected`));
    await expect(drain.drainNow()).rejects.toThrow('EISDIR');
    expect(await spent()).toBe(20n);
    await expectNothingMore(files, 20n);
    // The process itself tries again too.
    rmdirSync(join(dir, `${ownerId}.rejected`));
    await drain.drainNow();
    expect(await spent()).toBe(20n);
    await journal.close();
  });

  it('nor does its own process if the answer to a COMMIT was lost', async () => {
    const { journal, append } = await startProcess();
    await append([...whole(old()), ...whole(old())]);
    let lost = false;
    const drain = startDrain({
      pool: losingAnswers(() => {
        const now = !lost;
        lost = true;
        return now;
      }),
      journal,
      onPosted: () => {},
      report: () => {},
      schedule: () => () => {},
    });
    await expect(drain.drainNow()).rejects.toThrow('the answer was lost');
    await forget();
    await drain.drainNow();
    expect(await spent()).toBe(20n);
    await journal.close();
  });

  it('nor does a copy of an earlier moment end calls that ended since', async () => {
    const { dir, journal, drain, append, ownerId } = await startProcess();
    const call = old();
    await append([...whole(old()), openOf(call)]);
    const earlier = copyOf(dir);
    await append([closeOf(call)]);
    await drain.drainNow();
    await forget();
    // Whether its process was killed, and its disk lost, or has stopped.
    const { reports, interrupted } = await recoverFrom(copyOf(earlier));
    expect({ interrupted, reports }).toEqual({
      interrupted: 0,
      reports: [expect.stringContaining('may have been posted')],
    });
    expect(await spent()).toBe(20n);
    await endOwn(pool, ownerId);
    expect(await recoverFrom(copyOf(earlier))).toMatchObject({ interrupted: 0, reports: [] });
    await journal.close();
    await expectNothingMore(earlier, 20n);
  });

  it('nor the end of a call that was interrupted while the file with it was missing', async () => {
    const { dir, ownerId, append } = await startProcess();
    const call = old();
    await append([openOf(call), ...whole(old())]);
    const first = copyOf(dir);
    await recoverFrom(first);
    const other = newDirectory();
    const second = openJournal(other, ownerId, {
      report: () => {},
      onWritable: () => {},
      onFailure: () => {},
    });
    await second.append(closeOf(call));
    await second.append(closeOf(old()));
    renameSync(join(other, `${ownerId}-1.log`), join(other, `${ownerId}-2.log`));
    await forget();
    await recoverFrom(copyOf(other));
    // The call that only the second file knows is posted.
    expect(await spent()).toBe(20n);
    await expectNothingMore(other, 20n);
  });

  it('read by two starts at once', async () => {
    const { dir, append } = await startProcess();
    await append(Array.from({ length: 50 }, () => whole(old())).flat());
    const copies = Array.from({ length: 4 }, () => copyOf(dir));
    await Promise.all(copies.map(recoverFrom));
    expect(await spent()).toBe(500n);
    await expectNothingMore(dir, 500n);
  });
});

/** A database whose answer to a COMMIT does not arrive. */
function losingAnswers(losesNow: () => boolean): Pool {
  const connect = async () => {
    const client = await pool.connect();
    const query = async (text: string, values?: unknown[]) => {
      const answer = await client.query(text, values);
      if (text === 'COMMIT' && losesNow()) throw new Error('the answer was lost');
      return answer;
    };
    return { query, release: (end?: boolean) => client.release(end) };
  };
  return new Proxy(pool, {
    get: (target, name) => (name === 'connect' ? connect : Reflect.get(target, name).bind(target)),
  });
}

/** A database that is gone after so many settlements. */
function failingAfter(commits: number): Pool {
  let left = commits;
  const connect = async () => {
    if (left === 0) throw new Error('the process was killed');
    left -= 1;
    return pool.connect();
  };
  return new Proxy(pool, {
    get: (target, name) => (name === 'connect' ? connect : Reflect.get(target, name).bind(target)),
  });
}
