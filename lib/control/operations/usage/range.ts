import { badInput } from '#lib/control/operations/refusal';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { dayName, dayStart, daysLater, knownZone } from '#lib/core/charts/zone';
import { quarterMs } from '#lib/gateway/settlement/pure/quarter';
import { foldedBefore, widenedToDays } from '#lib/gateway/settlement/usage/fold';

const defaultDays = 30;
const dayMs = 86_400_000;

/** A range of time, [from, to), ms since the epoch. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The requested range; the last 30 days by default. @throws ControlRefused if it ends before it starts. */
export function askedRange(
  { from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
  nowMs: number,
): Range {
  const toMs = to?.getTime() ?? nowMs;
  const fromMs = from?.getTime() ?? toMs - defaultDays * dayMs;
  if (toMs <= fromMs) throw badInput('to', 'the end must be after the start; choose a later time');
  return { fromMs, toMs };
}

/** Extended to whole quarters of an hour, and to whole days where usage is kept by days. */
export function widened({ fromMs, toMs }: Range, zone: string, nowMs: number): Range {
  const whole = {
    fromMs: Math.floor(fromMs / quarterMs) * quarterMs,
    toMs: Math.ceil(toMs / quarterMs) * quarterMs,
  };
  return widenedToDays(whole, zone, nowMs);
}

/** Whether part of a range is kept only by days. */
export function reachesDays({ fromMs }: Range, zone: string, nowMs: number): boolean {
  return fromMs < foldedBefore(nowMs, zone);
}

/**
 * The same, also for days of a former time zone of the workspace, none of which may be cut.
 * @throws Error of the database.
 */
export async function wholeDays(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  range: Range,
): Promise<Range> {
  const [row] = await store.query<{ first: string | null; last: string | null }>(
    `SELECT (extract(epoch FROM min(day) FILTER (WHERE day < $2::timestamptz AND until > $2::timestamptz)) * 1000)::text AS first,
       (extract(epoch FROM max(until) FILTER (WHERE day < $3::timestamptz AND until > $3::timestamptz)) * 1000)::text AS last
     FROM usage_span WHERE workspace_id = $1::uuid AND state = 'folded'
       AND (day < $2::timestamptz AND until > $2::timestamptz OR day < $3::timestamptz AND until > $3::timestamptz)`,
    [scope.workspaceId, new Date(range.fromMs), new Date(range.toMs)],
  );
  return {
    fromMs: row?.first == null ? range.fromMs : Number(row.first),
    toMs: row?.last == null ? range.toMs : Number(row.last),
  };
}

/**
 * The part of a range in which anything was counted; null: none.
 * @throws Error of the database.
 */
export async function storedPart(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  { fromMs, toMs }: Range,
): Promise<Range | null> {
  const edge = (pick: 'min' | 'max', table: string, start: string) => `(SELECT ${pick}(${start}) FROM ${table}
    WHERE workspace_id = $1::uuid AND ${start} >= $2::timestamptz AND ${start} < $3::timestamptz)`;
  const edges = (pick: 'min' | 'max') =>
    [
      edge(pick, 'usage_quarter', 'quarter'),
      edge(pick, 'usage_quarter_counted', 'quarter'),
      edge(pick, 'usage_day', 'day'),
    ].join(', ');
  const [row] = await store.query<{ first: string | null; last: string | null }>(
    `SELECT (extract(epoch FROM least(${edges('min')})) * 1000)::text AS first,
       (extract(epoch FROM greatest(${edges('max')})) * 1000)::text AS last`,
    [scope.workspaceId, new Date(fromMs), new Date(toMs)],
  );
  if (row?.first == null || row.last == null) return null;
  return { fromMs: Number(row.first), toMs: Number(row.last) + quarterMs };
}

/** The preceding range of equal length: as many days if it is whole days, otherwise as much time. */
export function rangeBefore({ fromMs, toMs }: Range, stored: string): Range {
  const zone = knownZone(stored);
  if (dayStart(fromMs, zone) !== fromMs || dayStart(toMs, zone) !== toMs) {
    return { fromMs: fromMs - (toMs - fromMs), toMs: fromMs };
  }
  const dateMs = (atMs: number) => Date.parse(dayName(atMs, zone));
  const days = Math.round((dateMs(toMs) - dateMs(fromMs)) / dayMs);
  return { fromMs: daysLater(fromMs, zone, -days), toMs: fromMs };
}
