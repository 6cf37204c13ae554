import { goodScore } from '#lib/control/operations/call/feedback';
import { type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import type { Range } from '#lib/control/operations/usage/range';
import { Histogram } from '#lib/core/metering/histogram';
import { noUsage, type Usage, usageClasses } from '#lib/core/metering/usage';
import { type ErrorClass, errorClasses } from '#lib/gateway/settlement/pure/error-class';
import { ownModel } from '#lib/gateway/settlement/pure/own-answer';
import { errorColumns, sumNames, usageColumns } from '#lib/gateway/settlement/usage/columns';

/** Splits of usage, besides time. */
export const splits = ['model', 'key', 'provider'] as const;
export type Split = (typeof splits)[number];

/** Columns to split by; the only text in the statement, never user input. */
const splitColumns: Readonly<Record<Split, string>> = {
  model: 'model',
  key: 'key_id::text',
  provider: 'provider',
};

/** Only usage of one model, one key, one provider, and of the keys that one member made ('': of keys without a maker). */
export type UsageFilters = { readonly [S in Split | 'member']?: string | undefined };

/** Keys by who made them; who made a key never changes. $n: id of a user, or '' for none. */
export const madeBy = (keyId: string, member: string) => `CASE WHEN ${member} = ''
    THEN NOT EXISTS (SELECT FROM api_key k WHERE k.id = ${keyId} AND k.created_by IS NOT NULL)
    ELSE EXISTS (SELECT FROM api_key k WHERE k.id = ${keyId} AND k.created_by::text = ${member}) END`;

/** Totals of calls; money in nano-dollars. */
export interface Sums {
  calls: number;
  refused: number;
  attempts: number;
  fallbacks: number;
  readonly errors: Record<ErrorClass, number>;
  /** Calls whose feedback has a score, and those of them that were good. */
  rated: number;
  good: number;
  /** Calls that were answered again for their `Idempotency-Key`, and from the cache; `calls` has neither. */
  repeated: number;
  cacheHits: number;
  /** What those from the cache would have cost. */
  savedNano: bigint;
  readonly used: Usage;
  costNano: bigint;
  /** List price of the calls by own keys, of which `costNano` has only the fee (contract: own-keys/counts). */
  ownListNano: bigint;
  readonly latency: Histogram;
  readonly firstByte: Histogram;
}

/** The sums of one bucket of time and one value of the split. */
export interface SplitSums {
  /** Index in `startsMs`; 0 without it. */
  readonly bucket: number;
  /** The model, key id, provider or id of the user who made the key; '' without a split, and for calls that have none. */
  readonly value: string;
  readonly sums: Sums;
}

export interface UsageQuery {
  /** Extended to what is stored (`range`). */
  readonly range: Range;
  readonly split?: Split | 'member' | undefined;
  /** Starts of the buckets, in order, the first not after the start of the range. */
  readonly startsMs?: readonly number[] | undefined;
  readonly filters?: UsageFilters | undefined;
  /** Also what the gateway answers itself, which no figure counts (contract: call-log/own-answers); default: false. */
  readonly own?: boolean | undefined;
  /** Whether feedback and repeats are counted too (contract: call-log/feedback-figures, repeats/figures); default: false. */
  readonly feedback?: boolean | undefined;
  /** Whether latency and time to first byte are read too, which takes most of the time; default: true. */
  readonly durations?: boolean | undefined;
}

const durationNames: ReadonlySet<string> = new Set(['latency', 'first_byte']);
const amountNames = sumNames.filter((name) => !durationNames.has(name));

/**
 * The only read of usage, on which every total, chart, command and address is based. Calls count at their
 * admission, as in the log; jobs and adjustments count with their call. Days that are in one bucket are read
 * as days, the time between them by quarters, in one statement: a quarter leaves `usage_quarter` when a day includes it.
 * @returns possibly several parts for a bucket and value, for the caller to add up.
 * @throws Error of the database.
 */
export async function readUsage(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  asked: UsageQuery,
): Promise<SplitSums[]> {
  if (asked.split !== 'member') return readSplit(store, scope, { ...asked, split: asked.split });
  return byMember(store, scope, await readSplit(store, scope, { ...asked, split: 'key' }));
}

/** Sums of keys as those of the users who made them. */
async function byMember(
  store: Pick<Store, 'query'>,
  { workspaceId }: Pick<WorkspaceScope, 'workspaceId'>,
  parts: readonly SplitSums[],
): Promise<SplitSums[]> {
  const rows = await store.query<{ id: string; maker: string }>(
    `SELECT id::text AS id, created_by::text AS maker FROM api_key
     WHERE workspace_id = $1::uuid AND id = ANY ($2::uuid[]) AND created_by IS NOT NULL`,
    [workspaceId, [...new Set(parts.map(({ value }) => value))]],
  );
  const makers = new Map(rows.map(({ id, maker }) => [id, maker]));
  return parts.map((part) => ({ ...part, value: makers.get(part.value) ?? '' }));
}

async function readSplit(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  {
    range,
    split,
    startsMs,
    filters = {},
    own: withOwn = false,
    feedback = false,
    durations = true,
  }: Omit<UsageQuery, 'split'> & { readonly split: Split | undefined },
): Promise<SplitSums[]> {
  const values: unknown[] = [new Date(range.fromMs), new Date(range.toMs)];
  const own = within(scope, 'workspace_id', values);
  const conditions = [own, ...(withOwn ? [] : [`model <> '${ownModel}'`])];
  for (const name of splits) {
    const given = filters[name];
    if (given === undefined) continue;
    values.push(given);
    conditions.push(`${splitColumns[name]} = $${values.length}`);
  }
  if (filters.member !== undefined) conditions.push(madeBy('key_id', `$${values.push(filters.member)}`));
  let bucket = (_: string) => '1';
  if (startsMs) {
    values.push(startsMs.map((at) => new Date(at)));
    const starts = `$${values.length}::timestamptz[]`;
    bucket = (start) => `width_bucket(${start}, ${starts})`;
  }
  const part = (table: string, start: string, { from = '$1::timestamptz', to = '$2::timestamptz' } = {}) => `
    SELECT ${bucket(start)} AS bucket, ${split ? splitColumns[split] : "''"} AS value,
      ${(durations ? sumNames : amountNames).map((name) => `sum(${name})::text AS ${name}`).join(', ')}
    FROM ${table} WHERE ${start} >= ${from} AND ${start} < ${to} AND ${conditions.join(' AND ')}
    GROUP BY 1, 2`;
  const rows = await store.query<StoredSums>(
    `WITH days AS MATERIALIZED (
      SELECT day, until, state FROM usage_span
      WHERE ${own} AND day >= $1::timestamptz AND day < $2::timestamptz AND (state = 'folded' OR state = 'made'
        AND until <= $2::timestamptz AND ${bucket('day')} = ${bucket("(until - interval '1 ms')")})
    ), between AS MATERIALIZED (
      SELECT coalesce(lag(until) OVER days, $1::timestamptz) AS start, day AS stop
      FROM days WHERE state = 'made' WINDOW days AS (ORDER BY day)
      UNION ALL SELECT coalesce(max(until), $1::timestamptz), $2::timestamptz FROM days WHERE state = 'made'
    )
    ${part('usage_quarter', 'quarter')}
    UNION ALL SELECT quarters.* FROM between, LATERAL (
      ${part('usage_quarter_counted', 'quarter', { from: 'start', to: 'stop' })}) AS quarters WHERE start < stop
    UNION ALL ${part('(usage_day JOIN (SELECT day FROM days) AS read USING (day))', 'day')}`,
    values,
  );
  const parts = rows.map((row) => ({ bucket: row.bucket - 1, value: row.value, sums: sumsOf(row) }));
  if (!feedback) return parts;
  const rated = await store.query<RatedRow>(
    `SELECT ${bucket('at')} AS bucket, ${split ? splitColumns[split] : "''"} AS value, count(*)::int AS rated,
       (count(*) FILTER (WHERE score >= ${goodScore}))::int AS good
     FROM call_feedback WHERE at >= $1::timestamptz AND at < $2::timestamptz AND score IS NOT NULL
       AND ${conditions.join(' AND ')} GROUP BY 1, 2`,
    values,
  );
  const repeated = await store.query<RepeatedRow>(
    `SELECT ${bucket('at')} AS bucket, ${split ? splitColumns[split] : "''"} AS value,
       (count(*) FILTER (WHERE kind = 'repeat'))::int AS repeated,
       (count(*) FILTER (WHERE kind = 'cache'))::int AS hits,
       coalesce(sum(cost_nano) FILTER (WHERE kind = 'cache'), 0)::text AS saved
     FROM call_repeat WHERE at >= $1::timestamptz AND at < $2::timestamptz
       AND ${conditions.join(' AND ')} GROUP BY 1, 2`,
    values,
  );
  return [
    ...parts,
    ...repeated.map((row) => ({
      bucket: Number(row.bucket) - 1,
      value: row.value,
      sums: { ...noSums(), repeated: row.repeated, cacheHits: row.hits, savedNano: BigInt(row.saved) },
    })),
    ...rated.map((row) => ({
      bucket: Number(row.bucket) - 1,
      value: row.value,
      sums: { ...noSums(), rated: row.rated, good: row.good },
    })),
  ];
}

interface RepeatedRow {
  readonly bucket: number | string;
  readonly value: string;
  readonly repeated: number;
  readonly hits: number;
  readonly saved: string;
}

interface RatedRow {
  readonly bucket: number | string;
  readonly value: string;
  readonly rated: number;
  readonly good: number;
}

/** Sums as returned by a statement, by column. */
export type StoredSums = { readonly bucket: number; readonly value: string } & Readonly<
  Record<string, string>
>;

export function sumsOf(row: StoredSums): Sums {
  const sums = noSums(Histogram.ofNumber(row.latency ?? '0'), Histogram.ofNumber(row.first_byte ?? '0'));
  const figure = (name: string) => Number(row[name]);
  sums.calls = figure('calls');
  sums.refused = figure('refused');
  sums.attempts = figure('attempts');
  sums.fallbacks = figure('fallbacks');
  for (const name of errorClasses) sums.errors[name] = figure(errorColumns[name]);
  for (const name of usageClasses) sums.used[name] = figure(usageColumns[name]);
  sums.costNano = BigInt(row.cost_nano ?? 0);
  sums.ownListNano = BigInt(row.own_list_nano ?? 0);
  return sums;
}

export function noSums(latency = new Histogram(), firstByte = new Histogram()): Sums {
  return {
    calls: 0,
    refused: 0,
    attempts: 0,
    fallbacks: 0,
    rated: 0,
    good: 0,
    repeated: 0,
    cacheHits: 0,
    savedNano: 0n,
    errors: { client: 0, limit: 0, provider: 0, timeout: 0, broken: 0, gateway: 0, other: 0 },
    used: { ...noUsage },
    costNano: 0n,
    ownListNano: 0n,
    latency,
    firstByte,
  };
}

/** Adds one to the other. */
export function addSums(sum: Sums, part: Sums): void {
  sum.calls += part.calls;
  sum.refused += part.refused;
  sum.attempts += part.attempts;
  sum.fallbacks += part.fallbacks;
  sum.rated += part.rated;
  sum.good += part.good;
  sum.repeated += part.repeated;
  sum.cacheHits += part.cacheHits;
  sum.savedNano += part.savedNano;
  for (const name of errorClasses) sum.errors[name] += part.errors[name];
  for (const name of usageClasses) sum.used[name] += part.used[name];
  sum.costNano += part.costNano;
  sum.ownListNano += part.ownListNano;
  sum.latency.merge(part.latency);
  sum.firstByte.merge(part.firstByte);
}

/** Everything together. */
export function totalOf(parts: Iterable<{ readonly sums: Sums }>): Sums {
  const total = noSums();
  for (const { sums } of parts) addSums(total, sums);
  return total;
}
