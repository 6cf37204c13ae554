import { callCost } from '#lib/control/operations/call/figure-filters';
import { callFilters, foreignId, hasContent, isOwnId } from '#lib/control/operations/call/filters';
import { settledAfter } from '#lib/control/operations/call/span';
import { shownTokens, summedCalls, summedFigures } from '#lib/control/operations/call/summed';
import { conditionsOf, keysetOf, nextOf, type Order } from '#lib/control/operations/field/paging';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { keptFromId } from '#lib/control/retention/weeks';
import { errorClassSql } from '#lib/gateway/settlement/pure/error-class';

/** Filters that an index serves; the others are compared call by call. */
const { id, key, from, to, customId, ...others } = callFilters;
const compared = { ...others, foreignId, hasContent, settledAfter };
const ranges = { id, from, to, customId };

/** The most calls that one page compares with its filters; takes PostgreSQL about 30 ms when they are in memory. */
export const mostCompared = 25_000;
/** The most calls that are counted. */
export const mostCounted = 10_000;
/** The most calls that are ranked by a figure, and of which the first are listed; it takes PostgreSQL a second. */
export const mostRanked = 400_000;
/** The most calls that are listed by a figure. */
export const mostListed = 1_000;

/** The values of the filters, and where the previous page ended. */
export interface Search {
  readonly input: Readonly<Record<string, unknown>>;
  /** The last id of the previous page. */
  readonly after: string | undefined;
}

/** The calls that a search looks at: conditions on `c`, and where it stops. */
interface Stretch {
  /** @param values of the statement; those of the search are added to them. */
  conditions(values: unknown[]): string[];
  /** The last call to look at; null: there are no older ones. */
  readonly lastId: string | null;
}

/**
 * Filters without an index compare at most 25,000 calls, so that a search for rare calls takes no longer than others;
 * the next page continues from there (contract: call-log/searches).
 */
async function stretchOf(
  store: Store,
  scope: WorkspaceScope,
  nowMs: number,
  { input, after }: Search,
): Promise<Stretch> {
  const within = (values: unknown[]) => withinRange(scope, nowMs, { input, after }, values);
  // A search by upstream request id has its own bound, one day.
  if (conditionsOf(compared, input, []).length === 0 || input.upstreamRequestId !== undefined) {
    return {
      conditions: (values) => [...within(values), ...conditionsOf(compared, input, values)],
      lastId: null,
    };
  }
  const values: unknown[] = [];
  const [last] = await store.query<{ id: string }>(
    `SELECT c.id::text AS id FROM call c WHERE ${within(values).join(' AND ')}
     ORDER BY c.id DESC OFFSET ${mostCompared - 1} LIMIT 1`,
    values,
  );
  const lastId = last?.id ?? null;
  return {
    conditions: (values) => [
      ...within(values),
      ...conditionsOf(compared, input, values),
      ...(lastId === null ? [] : [`c.id >= $${values.push(lastId)}::uuid`]),
    ],
    lastId,
  };
}

/** Conditions that an index serves. */
function withinRange(
  scope: WorkspaceScope,
  nowMs: number,
  { input, after }: Search,
  values: unknown[],
): string[] {
  const where = [...placeOf(scope, input, values), ...conditionsOf(ranges, input, values)];
  if (scope.retentionDays !== null) {
    where.push(`c.id >= $${values.push(keptFromId(nowMs, scope.retentionDays))}::uuid`);
  }
  if (after !== undefined) where.push(`c.id < $${values.push(after)}::uuid`);
  return where;
}

/** Floats hold whatever a provider reported. */
const figure = (name: string) => `least(greatest(coalesce(u."${name}", 0), 0), 1e12)`;

/** What calls can be ranked by. */
export const callOrders = {
  cost: { sql: callCost, type: 'bigint' },
  latency: { sql: 'c.latency_ms::bigint', type: 'bigint' },
  tokens: {
    sql: `(SELECT (${shownTokens.map(figure).join(' + ')})::bigint FROM json_to_record(c.usage) AS u (${shownTokens.map((name) => `"${name}" float8`).join(', ')}))`,
    type: 'bigint',
  },
} as const satisfies Record<string, Order>;

/** The figures of the calls that a search finds. */
export interface CallFigures {
  readonly calls: number;
  readonly errors: number;
  readonly costNano: bigint;
  /** Input, cached and output. */
  readonly tokens: number;
  /** Of the calls that were neither refused nor interrupted, ms; null: there are none. */
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** Whether these are all calls of the search; otherwise the newest 400,000 were compared. */
  readonly all: boolean;
}

/** The newest calls that an index finds for a search, so that comparing them takes a second at most. */
function newestCalls(scope: WorkspaceScope, nowMs: number, search: Search, values: unknown[]): string {
  return `(SELECT c.* FROM call c WHERE ${withinRange(scope, nowMs, search, values).join(' AND ')}
    ORDER BY c.id DESC LIMIT ${mostRanked}) AS c`;
}

/**
 * The figures of the calls that a search finds: from the totals of usage if they have exactly these calls, otherwise of
 * those among the newest 400,000 of its range.
 */
export async function readCallFigures(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  nowMs: number,
  input: Search['input'],
): Promise<CallFigures> {
  const summed = await summedFigures(store, scope, nowMs, input);
  if (summed) return { ...summed, all: true };
  const search = { input, after: undefined };
  const values: unknown[] = [];
  const newest = newestCalls(scope, nowMs, search, values);
  const looked = `(SELECT count(*) FROM (SELECT FROM ${newest}) AS looked)::int`;
  const where = ['TRUE', ...conditionsOf(compared, input, values)].join(' AND ');
  const [row] = await store.query<{
    calls: number;
    errors: number;
    cost: string;
    tokens: string;
    p50: number | null;
    p95: number | null;
    looked: number;
  }>(
    `SELECT count(*)::int AS calls, count(error)::int AS errors, coalesce(sum(cost), 0)::text AS cost,
       coalesce(sum(tokens), 0)::text AS tokens, ${looked} AS looked,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY latency) AS p50,
       percentile_disc(0.95) WITHIN GROUP (ORDER BY latency) AS p95
     FROM (SELECT ${errorClassSql('c.')} AS error, ${callCost} AS cost, ${callOrders.tokens.sql} AS tokens,
         CASE WHEN c.end_reason IN ('refused', 'interrupted') THEN NULL ELSE c.latency_ms END AS latency
       FROM ${newest} WHERE ${where}) AS found`,
    values,
  );
  return {
    calls: row?.calls ?? 0,
    errors: row?.errors ?? 0,
    costNano: BigInt(row?.cost ?? 0),
    tokens: Number(row?.tokens ?? 0),
    p50Ms: row?.p50 ?? null,
    p95Ms: row?.p95 ?? null,
    all: (row?.looked ?? 0) < mostRanked,
  };
}

/** How many calls a search finds among the newest 400,000 of its range; counting ends at `most`. */
export async function countUpTo(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  nowMs: number,
  { input, most }: { readonly input: Search['input']; readonly most: number },
): Promise<number> {
  const values: unknown[] = [most];
  const newest = newestCalls(scope, nowMs, { input, after: undefined }, values);
  const where = ['TRUE', ...conditionsOf(compared, input, values)].join(' AND ');
  const [row] = await store.query<{ calls: number }>(
    `SELECT count(*)::int AS calls FROM (SELECT FROM ${newest} WHERE ${where} LIMIT $1::int) AS found`,
    values,
  );
  return row?.calls ?? 0;
}

/** Which calls a ranking has looked at. */
export interface Ranked {
  /** How many. */
  readonly calls: number;
  /** The oldest of them; null: there are none. */
  readonly oldestId: string | null;
  /** Whether these are all calls of the range. */
  readonly all: boolean;
}

/**
 * A page of the at most 1,000 calls with the largest or smallest figure, of the newest 400,000 calls that an index finds
 * (contract: call-log/ranking).
 * @throws ControlRefused (invalid_body) for an `after` that is not from such a page.
 */
export async function rankIds(
  store: Store,
  scope: WorkspaceScope,
  nowMs: number,
  { input, after, sort, limit }: Search & { readonly sort: string; readonly limit: number },
): Promise<{ ids: string[]; next: string | null; ranked: Ranked }> {
  const [, listed = '0', place] = /^(\d{1,3})\.(.+)$/.exec(after ?? '') ?? [];
  const rows = Math.min(limit, mostListed - Number(listed));
  const search = { input, after: undefined };
  const newest: unknown[] = [];
  // The oldest by their order: there is no min of UUIDs.
  const [looked] = await store.query<{ calls: number; oldest: string | null }>(
    `SELECT count(*)::int AS calls, (array_agg(id ORDER BY id))[1]::text AS oldest FROM (
       SELECT c.id FROM call c WHERE ${withinRange(scope, nowMs, search, newest).join(' AND ')}
       ORDER BY c.id DESC LIMIT ${mostRanked}) AS looked`,
    newest,
  );
  const values: unknown[] = [rows + 1];
  const { orderBy, conditions, ...keyset } = keysetOf(
    callOrders,
    { sort, after: after === undefined ? undefined : (place ?? '') },
    'c.id',
    values,
  );
  const where = [
    ...withinRange(scope, nowMs, search, values),
    ...conditionsOf(compared, input, values),
    ...conditions,
  ];
  if (looked?.oldest && looked.calls === mostRanked)
    where.push(`c.id >= $${values.push(looked.oldest)}::uuid`);
  const found = await store.query<{ id: string; place: string }>(
    `SELECT c.id::text AS id, ${keyset.place} AS place FROM call c
     WHERE ${where.join(' AND ')} ORDER BY ${orderBy} LIMIT $1`,
    values,
  );
  const next = nextOf(found, rows, sort);
  const above = Number(listed) + rows;
  return {
    ids: found.slice(0, rows).map(({ id }) => id),
    next: next === null || above >= mostListed ? null : `${above}.${next}`,
    ranked: {
      calls: looked?.calls ?? 0,
      oldestId: looked?.oldest ?? null,
      all: (looked?.calls ?? 0) < mostRanked,
    },
  };
}

/** Conditions for one of the indexes: of a key's calls, of failed calls, or of all calls of a workspace. */
function placeOf(scope: WorkspaceScope, input: Search['input'], values: unknown[]): string[] {
  const workspace = `$${values.push(scope.workspaceId)}::uuid`;
  const [ofKey] = conditionsOf({ key }, input, values);
  // All calls of a key are in its workspace; given both conditions, the database may choose the wrong index.
  if (ofKey) {
    return [
      ofKey,
      `EXISTS (SELECT FROM api_key k WHERE k.id = $${values.length}::uuid AND k.workspace_id = ${workspace})`,
    ];
  }
  const failed = typeof input.status === 'string' && /^[45]/.test(input.status);
  return [`c.workspace_id = ${workspace}`, ...(failed ? ['c.status >= 400'] : [])];
}

/**
 * Ids of the newest calls that a search finds.
 * @returns `next`: where to continue; null if there are no older calls.
 */
export async function findIds(
  store: Store,
  scope: WorkspaceScope,
  nowMs: number,
  { limit, ...search }: Search & { readonly limit: number },
): Promise<{ ids: string[]; next: string | null }> {
  const stretch = await stretchOf(store, scope, nowMs, search);
  const values: unknown[] = [limit + 1];
  const rows = await store.query<{ id: string }>(
    `SELECT c.id::text AS id FROM call c WHERE ${stretch.conditions(values).join(' AND ')}
     ORDER BY c.id DESC LIMIT $1`,
    values,
  );
  const ids = rows.slice(0, limit).map((row) => row.id);
  return { ids, next: rows.length > limit ? (ids.at(-1) ?? null) : stretch.lastId };
}

/**
 * The filters for an id to look for: ours if one of ours starts like it, which an index shows; otherwise the client's or
 * a provider's, which is compared.
 */
export async function byAnyId<Input extends { readonly id?: string | undefined }>(
  store: Store,
  scope: WorkspaceScope,
  nowMs: number,
  input: Input,
): Promise<Input | (Omit<Input, 'id'> & { readonly foreignId: string })> {
  const { id, ...rest } = input;
  if (id === undefined) return input;
  if (isOwnId(id)) {
    const { ids } = await findIds(store, scope, nowMs, { input: { id }, after: undefined, limit: 1 });
    if (ids.length > 0) return input;
  }
  return { ...rest, foreignId: id };
}

/** What a search finds, counted. */
export interface Counted {
  /** At most 10,000, unless usage has the exact number. */
  readonly calls: number;
  /** Their total cost; null: not all of them were counted. */
  readonly costNano: bigint | null;
  /** There are more than were counted, or older calls that were not looked at. */
  readonly more: boolean;
}

/**
 * How many calls a search finds, at most 10,000, and their total cost with the charges of their jobs and
 * corrections. If there are more and usage has sums of exactly these calls, those are returned.
 */
export async function countCalls(
  store: Store,
  scope: WorkspaceScope,
  nowMs: number,
  search: Search,
): Promise<Counted> {
  const stretch = await stretchOf(store, scope, nowMs, search);
  const values: unknown[] = [mostCounted + 1];
  const [counted] = await store.query<{ calls: number; cost: string }>(
    `SELECT count(*)::int AS calls,
       (coalesce(sum(f.cost_nano), 0) + coalesce(sum(j.cost_nano), 0) + coalesce(sum(a.amount_nano), 0))::text AS cost
     FROM (SELECT c.id, c.cost_nano FROM call c WHERE ${stretch.conditions(values).join(' AND ')} LIMIT $1) AS f
     LEFT JOIN job j ON j.call_id = f.id
     LEFT JOIN adjustment a ON a.call_id = f.id AND a.settled_at IS NOT NULL`,
    values,
  );
  const calls = counted?.calls ?? 0;
  if (calls <= mostCounted && stretch.lastId === null) {
    return { calls, costNano: BigInt(counted?.cost ?? 0), more: false };
  }
  const summed = await summedCalls(store, scope, nowMs, search.input);
  return summed ?? { calls: Math.min(calls, mostCounted), costNano: null, more: true };
}
