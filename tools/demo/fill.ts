import { randomUUID } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { demoStoreOf, removeDemo } from '#lib/control/operations/demo/remove';
import { makeWeek } from '#lib/control/retention/change-weeks';
import { weekAt, weekMs, weekStart } from '#lib/control/retention/weeks';
import { dayStart, daysLater } from '#lib/core/charts/zone';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { apply } from '#lib/gateway/settlement/pure/apply';
import type { SettledEntry } from '#lib/gateway/settlement/pure/entry';
import { callColumns } from '#lib/gateway/settlement/pure/record/columns';
import { arrayOf } from '#lib/gateway/settlement/record/payload';
import { addSums, chargeKeys } from '#lib/gateway/settlement/settle';
import { rowType } from '#lib/gateway/settlement/statements';
import { publish } from '#lib/platform/data/change';
import { transact } from '#lib/platform/data/transaction/transaction';
import { booksOf, type DemoDay, type DemoLine } from '#tools/demo/books';
import { cast } from '#tools/demo/cast';
import { drawCalls, settledAfterMs } from '#tools/demo/draw';
import { makeDemo } from '#tools/demo/workspace';

export interface Filling {
  readonly catalogue: Catalogue;
  /** ms since the epoch; the last calls are in the minutes before. */
  readonly nowMs: number;
  /** IANA zone of the workspace. */
  readonly timeZone: string;
  readonly days: number;
  readonly seed: number;
  /** The number of calls relative to the usual number. */
  readonly scale: number;
}

export interface Filled {
  readonly slug: string;
  readonly calls: number;
  readonly keys: number;
  /** Operators who are members of the workspace. */
  readonly members: number;
  readonly replaced: boolean;
}

const names = callColumns.map(([name]) => name).join(', ');
const limits = { lockMs: 10_000, statementMs: 60_000 };

/** As in settlement, but settled in the past. $1: rows of type `call_record`. */
const insertCalls = `INSERT INTO call (${names}, over_hold_nano, settled_at)
  SELECT ${names}, greatest(0, cost_nano - hold_nano), at + (latency_ms + ${settledAfterMs}) * interval '1 millisecond'
  FROM unnest($1::call_record[])`;

const insertLines = `INSERT INTO ledger_line (id, workspace_id, at, amount_nano, calls, kind, ref, reason)
  SELECT gen_random_uuid(), $1::uuid, l.at, l.nano, l.calls, l.kind, CASE WHEN l.kind = 'usage'
    THEN to_char(l.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') ELSE 'demo:' || l.ref END, l.reason
  FROM unnest($2::timestamptz[], $3::bigint[], $4::int[], $5::text[], $6::text[], $7::text[])
    AS l (at, nano, calls, kind, ref, reason)`;

/**
 * Creates the demo workspace again: keys, policies, and calls of `days` days with sums and ledger. Each day is one short
 * transaction after which the books are in order, so that a running gateway does not have to wait, and the next filling
 * can replace one that was killed.
 * @throws Error of the database; RangeError if the catalogue has none of the models.
 */
export async function fillDemo(pool: Pool, filling: Filling): Promise<Filled> {
  const { nowMs, days, timeZone } = filling;
  // Whole days, so that the period before is empty.
  const fromMs = daysLater(dayStart(nowMs, timeZone), timeZone, 1 - days);
  for (let at = weekStart(fromMs); at <= nowMs; at += weekMs) await makeWeek(pool, weekAt(at));
  const removed = await transact(pool, limits, async (client) => {
    const before = await removeDemo(demoStoreOf(client));
    if (before) await publish({ query: (text, values) => client.query(text, values) }, before.changes);
    return before;
  });
  const made = await transact(pool, limits, (client) => makeDemo(client, filling));
  const calls = cast.flatMap((app, at) =>
    drawCalls(app, {
      ...filling,
      seed: filling.seed + at,
      workspaceId: made.workspaceId,
      keyId: made.keyIds[at] ?? '',
      untilMs: nowMs,
      fromMs,
    }),
  );
  if (calls.length === 0) throw new RangeError('the catalogue has none of the models that the demo calls');
  for (const day of booksOf(calls, fromMs, nowMs)) {
    await transact(pool, limits, (client) => post(client, made.workspaceId, day));
  }
  // The embedded database has no autovacuum.
  await pool.query('VACUUM ANALYZE');
  return {
    slug: made.slug,
    calls: calls.length,
    keys: made.keyIds.length,
    members: made.members,
    replaced: removed !== null,
  };
}

/** Posts one day, with locks in the same order as settlement. */
async function post(client: PoolClient, workspaceId: string, { calls, lines }: DemoDay): Promise<void> {
  const entries = calls.map(
    (call): SettledEntry =>
      call.endReason === 'refused'
        ? { kind: 'refused', callId: call.id, call }
        : { kind: 'close', callId: call.id, funding: 'none', call },
  );
  const found = await client.query<{ oid: number }>(rowType);
  await client.query(insertCalls, [arrayOf(found.rows[0]?.oid ?? 0, entries)]);
  const effects = apply(entries);
  await client.query('UPDATE workspace SET balance_nano = balance_nano + $2::bigint WHERE id = $1::uuid', [
    workspaceId,
    `${lines.reduce((sum, one) => sum + one.amountNano, 0n)}`,
  ]);
  await insertLedger(client, workspaceId, lines);
  await chargeKeys(client, effects);
  await addSums(client, effects);
  await publish({ query: (text, values) => client.query(text, values) }, [
    { kind: 'workspace', subject: workspaceId },
  ]);
}

async function insertLedger(client: PoolClient, workspaceId: string, lines: readonly DemoLine[]) {
  await client.query(insertLines, [
    workspaceId,
    lines.map(({ atMs }) => new Date(atMs).toISOString()),
    lines.map(({ amountNano }) => `${amountNano}`),
    lines.map(({ calls }) => calls),
    lines.map(({ kind }) => kind),
    lines.map(() => randomUUID()),
    lines.map(({ reason }) => reason),
  ]);
}
