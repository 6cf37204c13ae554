import { z } from 'zod';
import { joinOrder, type LedgerLine, lineKinds, shownRef } from '#lib/control/operations/ledger/list';
import { monthLater, type Span, spanOfMonth } from '#lib/control/operations/ledger/month';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { ReadStore } from '#lib/control/operations/store';
import { wholeDays } from '#lib/control/operations/usage/range';
import { readUsage } from '#lib/control/operations/usage/sums';
import { dayName, daysLater, knownZone } from '#lib/core/charts/zone';
import { formatUsd } from '#lib/core/money';
import type { Query } from '#lib/platform/data/transaction/read-snapshot';

const signed = z.string().describe('Dollars as a signed decimal string.');

/** A month of a ledger (contract: money/statement). */
export const statement = z.object({
  month: z.string(),
  timeZone: z.string().describe('The time zone of the month and its days.'),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  over: z.boolean().describe('Whether the month is over; until then, its sums still grow.'),
  opening: signed,
  closing: signed,
  sums: z.object({
    usage: signed,
    top_up: signed,
    promo: signed,
    expiry: signed,
    refund: signed,
    dispute: signed,
    adjustment: signed,
  }),
  lines: z
    .array(
      z.object({
        at: z.iso.datetime(),
        kind: z.enum(lineKinds),
        amount: signed,
        reason: z.string().nullable(),
        ref: z.string(),
      }),
    )
    .describe('Lines other than usage and corrections of calls, oldest first.'),
  more: z
    .object({ lines: z.int().describe('Number of lines.'), amount: signed })
    .nullable()
    .describe('Total of the lines after the first 500.'),
  corrections: z
    .object({ lines: z.int().describe('Number of lines.'), amount: signed })
    .describe('Later settlements of calls: adjustments with a key.'),
  days: z.array(
    z.object({
      day: z.string(),
      calls: z.int().describe('Number of charged calls.'),
      amount: signed,
    }),
  ),
  models: z
    .array(z.object({ model: z.string(), amount: signed }))
    .nullable()
    .describe('Usage by model, by time of admission; null: it is kept by days of another time zone.'),
  edges: signed
    .nullable()
    .describe(
      'Posted usage minus usage by model: calls that began on one side of an edge and ended on the other.',
    ),
});
export type Statement = z.output<typeof statement>;

/** Maximum of lines shown one by one; a year of top-ups has fewer. */
const mostLines = 500;

const own = 'workspace_id = $1::uuid';
const inMonth = `${own} AND at >= $2::timestamptz AND at < $3::timestamptz`;
const ofCall = `kind = 'adjustment' AND key_id IS NOT NULL`;
const alone = `kind <> 'usage' AND NOT (${ofCall})`;

const openingSql = `
  SELECT ((SELECT coalesce(sum(amount_nano), 0) FROM ledger_day WHERE ${own} AND day < date_trunc('day', $2::timestamptz, 'UTC'))
    + (SELECT coalesce(sum(amount_nano), 0) FROM ledger_line WHERE ${own} AND at < $2::timestamptz
      AND at >= date_trunc('day', $2::timestamptz, 'UTC')))::text AS nano`;

const sumsSql = `
  SELECT kind, ${ofCall} AS "ofCall", count(*)::int AS lines, sum(amount_nano)::text AS nano
  FROM ledger_line WHERE ${inMonth} GROUP BY 1, 2`;

const linesSql = `
  SELECT p.at, p.kind, p.amount_nano::text AS nano, p.reason, ${shownRef} AS ref FROM (
    SELECT * FROM ledger_line WHERE ${inMonth} AND ${alone} ORDER BY at, id LIMIT ${mostLines}
  ) AS p ${joinOrder} ORDER BY p.at, p.id`;

const daysSql = `
  SELECT width_bucket(at, $4::timestamptz[]) AS bucket, sum(calls)::int AS calls, sum(amount_nano)::text AS nano
  FROM ledger_line WHERE ${inMonth} AND kind = 'usage' GROUP BY 1 ORDER BY 1`;

/**
 * The statement of a month in the workspace's time zone, from one state of the database: opening balance plus all lines
 * is the closing balance, and all parts add up to the sum above them.
 * @param month "2026-11".
 */
export function readStatement(
  store: ReadStore,
  scope: WorkspaceScope,
  month: string,
  nowMs: number,
): Promise<Statement> {
  const zone = knownZone(scope.timeZone);
  const span = spanOfMonth(month, zone);
  return store.snapshot(async (query) => {
    const values = [scope.workspaceId, span.from, span.to];
    const [opening] = await query<{ nano: string }>(openingSql, values.slice(0, 2));
    const sums = await query<{ kind: LedgerLine['kind']; ofCall: boolean; lines: number; nano: string }>(
      sumsSql,
      values,
    );
    const shown = await query<{
      at: Date;
      kind: LedgerLine['kind'];
      nano: string;
      reason: string | null;
      ref: string;
    }>(linesSql, values);
    const total = (of: (row: (typeof sums)[number]) => boolean) =>
      addUp(sums.filter(of).map(({ nano }) => BigInt(nano)));
    const standing = sums.filter(({ kind, ofCall }) => kind !== 'usage' && !ofCall);
    const moreLines = standing.reduce((all, { lines }) => all + lines, 0) - shown.length;
    const moreNano =
      addUp(standing.map(({ nano }) => BigInt(nano))) - addUp(shown.map(({ nano }) => BigInt(nano)));
    const postedNano = -total(({ kind, ofCall }) => kind === 'usage' || ofCall);
    const openingNano = BigInt(opening?.nano ?? 0);
    return {
      month,
      timeZone: zone,
      from: span.from.toISOString(),
      to: span.to.toISOString(),
      over: nowMs >= span.to.getTime(),
      opening: formatUsd(openingNano),
      closing: formatUsd(openingNano + total(() => true)),
      sums: sumsByKind((kind) => formatUsd(total((row) => row.kind === kind))),
      lines: shown.map(({ nano, at, ...line }) => ({
        ...line,
        at: at.toISOString(),
        amount: formatUsd(BigInt(nano)),
      })),
      more: moreLines > 0 ? { lines: moreLines, amount: formatUsd(moreNano) } : null,
      corrections: {
        lines: sums.find(({ ofCall }) => ofCall)?.lines ?? 0,
        amount: formatUsd(total(({ ofCall }) => ofCall)),
      },
      days: await usageByDay(query, values, span, zone),
      ...(await usageByModel(query, scope, span, postedNano)),
    };
  });
}

/** Months from the first line to the current one, latest first. */
export async function monthsOf(store: ReadStore, scope: WorkspaceScope, nowMs: number): Promise<string[]> {
  const [first] = await store.query<{ at: Date | null }>(
    `SELECT min(at) AS at FROM ledger_line WHERE ${own}`,
    [scope.workspaceId],
  );
  const zone = knownZone(scope.timeZone);
  const nameOf = (atMs: number) => dayName(atMs, zone).slice(0, 7);
  const oldest = nameOf(first?.at?.getTime() ?? nowMs);
  const months = [nameOf(nowMs)];
  for (let month = months[0] ?? oldest; month > oldest; ) {
    month = monthLater(month, -1);
    months.push(month);
  }
  return months;
}

async function usageByDay(query: Query, values: readonly unknown[], span: Span, zone: string) {
  const starts: number[] = [];
  for (let at = span.from.getTime(); at < span.to.getTime(); at = daysLater(at, zone, 1)) starts.push(at);
  const found = await query<{ bucket: number; calls: number; nano: string }>(daysSql, [
    ...values,
    starts.map((at) => new Date(at).toISOString()),
  ]);
  return found.map(({ bucket, calls, nano }) => ({
    day: dayName(starts[bucket - 1] ?? span.from.getTime(), zone),
    calls,
    amount: formatUsd(BigInt(nano)),
  }));
}

async function usageByModel(query: Query, scope: WorkspaceScope, span: Span, postedNano: bigint) {
  const range = { fromMs: span.from.getTime(), toMs: span.to.getTime() };
  const stored = await wholeDays({ query }, scope, range);
  if (stored.fromMs !== range.fromMs || stored.toMs !== range.toMs) return { models: null, edges: null };
  const parts = await readUsage({ query }, scope, { range, split: 'model', durations: false });
  const byModel = new Map<string, bigint>();
  for (const { value, sums } of parts) byModel.set(value, (byModel.get(value) ?? 0n) + sums.costNano);
  const charged = [...byModel].filter(([, costNano]) => costNano !== 0n);
  charged.sort(([, one], [, other]) => (one < other ? 1 : -1));
  const countedNano = addUp(charged.map(([, costNano]) => costNano));
  return {
    models: charged.map(([model, costNano]) => ({ model, amount: formatUsd(-costNano) })),
    edges: formatUsd(countedNano - postedNano),
  };
}

function addUp(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, nano) => sum + nano, 0n);
}

function sumsByKind(of: (kind: LedgerLine['kind']) => string): Statement['sums'] {
  return {
    usage: of('usage'),
    top_up: of('top_up'),
    promo: of('promo'),
    expiry: of('expiry'),
    refund: of('refund'),
    dispute: of('dispute'),
    adjustment: of('adjustment'),
  };
}
