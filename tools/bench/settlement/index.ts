import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Pool } from 'pg';
import { openJournal } from '#lib/gateway/settlement/journal/journal';
import type { DrainedEntry } from '#lib/gateway/settlement/pure/entry';
import { settle } from '#lib/gateway/settlement/settle';
import { median } from '../statistics.ts';
import { callsOf, makeKeys } from './calls.ts';
import { type Kind, kinds, makeSubject, type Subject } from './database.ts';

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '60000' },
    rounds: { type: 'string', default: '5' },
    batch: { type: 'string', default: '2000' },
    on: { type: 'string', default: kinds.join() },
    server: { type: 'string', default: process.env.TEST_DATABASE_URL ?? '' },
  },
});

/** What one round took, µs per call. */
interface Took {
  readonly wallUs: number;
  /** Processor time of the database. */
  readonly databaseUs: number;
  /** Processor time of the process that settles. */
  readonly ownUs: number;
}

/** Settles what the journal wrote in batches, as the drain does; the journal itself is not measured. */
async function settleRound({ pool, spentUs }: Subject, count: number): Promise<Took> {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-settlement-journal-'));
  const journal = openJournal(directory, randomUUID(), {
    onFailure: (error) => console.error(error),
    onWritable: () => {},
    report: (error) => console.error(error),
    mostHeld: count,
    mostHeldBytes: 2 ** 31,
  });
  const keys = await makeKeys(pool, 5, 4);
  const ended = callsOf(keys, count, Date.now() - count);
  for (let at = 0; at < count; at += 100)
    await Promise.all(ended.slice(at, at + 100).map((entry) => journal.append(entry)));
  const entries: DrainedEntry[] = journal.next(count);
  if (entries.length !== count) throw new Error('the journal did not keep all calls in memory');
  const batch = Number(options.batch);
  const before = { wall: performance.now(), database: spentUs(), own: process.cpuUsage() };
  for (let at = 0; at < count; at += batch)
    await settle(pool, journal.ownerId, entries.slice(at, at + batch));
  const own = process.cpuUsage(before.own);
  const took = {
    wallUs: ((performance.now() - before.wall) * 1000) / count,
    databaseUs: (spentUs() - before.database) / count,
    ownUs: (own.user + own.system) / count,
  };
  journal.drop(count);
  await journal.close();
  rmSync(directory, { recursive: true });
  return took;
}

/** Bytes on disk of calls and the ledger. */
async function sizeOf(pool: Pool): Promise<{ table: number; index: number }> {
  const { rows } = await pool.query<{ tables: string; indexes: string }>(
    `SELECT sum(pg_table_size(oid)) AS tables, sum(pg_indexes_size(oid)) AS indexes FROM pg_class
     WHERE relkind = 'r' AND relname ~ '^(call|ledger_line)($|_default$|_w)'`,
  );
  return { table: Number(rows[0]?.tables), index: Number(rows[0]?.indexes) };
}

async function measureOn(kind: Kind): Promise<void> {
  const subject = await makeSubject(kind, options.server);
  const [count, rounds] = [Number(options.calls), Number(options.rounds)];
  // The first calls of a connection fill its caches.
  const warmUp = Math.min(count, 4000);
  await settleRound(subject, warmUp);
  const all: Took[] = [];
  for (let round = 0; round < rounds; round++) all.push(await settleRound(subject, count));
  const middle = (what: keyof Took) => median(all.map((one) => one[what])).toFixed(1);
  const each = all.map((one) => one.databaseUs.toFixed(1)).join(' ');
  const { table, index } = await sizeOf(subject.pool);
  const perCall = (bytes: number) => Math.round(bytes / (rounds * count + warmUp));
  console.log(
    `${kind}: ${perCall(table + index)} MB per million calls (tables ${perCall(table)}, indexes ${perCall(index)})`,
  );
  console.log(
    `${kind}: database ${middle('databaseUs')} µs per call (${each}), own process ${middle('ownUs')}, ` +
      `wall ${middle('wallUs')}; ${rounds} rounds of ${count} calls`,
  );
  await subject.drop();
}

for (const kind of kinds) if (options.on.split(',').includes(kind)) await measureOn(kind);
