import type { Query } from '#lib/platform/data/transaction/read-snapshot';
import { idFloor, idTimeMs } from '#lib/platform/ids';

const hourMs = 3_600_000;
/** How many calls are compared with their sums at once, so that the database needs little memory. */
const callsOfSlice = 200_000;
/** The times of an id and of its call differ by at most this, ms, except for strays. */
const slackMs = 60_000;
const mostStrays = 100_000;

/**
 * A part of the log, by the time of its calls, as parameters of a statement: $1, $2: [from, to) of time; $3, $4: [from,
 * to) of the ids that have most of its calls; $5: ids of calls whose time is far from the time in their id.
 */
export type Slice = readonly [
  from: string,
  to: string,
  fromId: string,
  toId: string,
  strays: readonly string[],
];

const [firstId, lastId] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];
export const wholeLog: Slice = ['-infinity', 'infinity', firstId, lastId, []];

/** Calls of a slice. @param columns as they are selected. */
export const callsInSlice = (columns: string) => `
  SELECT ${columns} FROM call
  WHERE id >= $3::uuid AND id < $4::uuid AND at >= $1::timestamptz AND at < $2::timestamptz
  UNION ALL
  SELECT ${columns} FROM call WHERE id = ANY ($5::uuid[]) AND NOT (id >= $3::uuid AND id < $4::uuid)
    AND at >= $1::timestamptz AND at < $2::timestamptz`;

const everySo = `
  SELECT id::text AS id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM call) AS c
  WHERE n % $1::int = 0 ORDER BY id`;

const straysOf = `
  SELECT id::text AS id FROM call WHERE id >= $1::uuid AND id < $2::uuid
    AND NOT (at >= $3::timestamptz AND at < $4::timestamptz) LIMIT ${mostStrays + 1}`;

/** Cuts the log into slices that begin at whole hours: together they have every call once. */
export async function slicesOf(query: Query, calls = callsOfSlice): Promise<readonly Slice[]> {
  const found = await query<{ id: string }>(everySo, [calls]);
  const cuts = [...new Set(found.map(({ id }) => Math.floor(idTimeMs(id) / hourMs) * hourMs))];
  if (cuts.length === 0) return [wholeLog];
  const edges = [-Infinity, ...cuts, Infinity];
  const strays: string[] = [];
  for (const [at, toMs] of edges.slice(1).entries()) {
    const fromMs = edges[at] ?? -Infinity;
    const own = [...idsOf(fromMs, toMs, 0), momentOf(fromMs - slackMs), momentOf(toMs + slackMs)];
    for (const { id } of await query<{ id: string }>(straysOf, own)) strays.push(id);
    if (strays.length > mostStrays) return [wholeLog];
  }
  return edges
    .slice(1)
    .map((toMs, at) => [edges[at] ?? -Infinity, toMs] as const)
    .map(([fromMs, toMs]) => [momentOf(fromMs), momentOf(toMs), ...idsOf(fromMs, toMs, slackMs), strays]);
}

function idsOf(fromMs: number, toMs: number, slack: number): [string, string] {
  return [
    fromMs === -Infinity ? firstId : idFloor(fromMs - slack),
    toMs === Infinity ? lastId : idFloor(toMs + slack),
  ];
}

function momentOf(ms: number): string {
  if (ms === -Infinity) return '-infinity';
  return ms === Infinity ? 'infinity' : new Date(ms).toISOString();
}
