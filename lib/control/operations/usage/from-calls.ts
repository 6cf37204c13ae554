import { badInput } from '#lib/control/operations/refusal';
import { type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { ReadStore } from '#lib/control/operations/store';
import type { Range } from '#lib/control/operations/usage/range';
import {
  madeBy,
  readUsage,
  type SplitSums,
  type StoredSums,
  sumsOf,
  totalOf,
  type UsageFilters,
} from '#lib/control/operations/usage/sums';
import { usageClasses } from '#lib/core/metering/usage';
import { errorClasses, errorClassSql } from '#lib/gateway/settlement/pure/error-class';
import { ownAnswerSql, ownModel } from '#lib/gateway/settlement/pure/own-answer';
import { ownListSql } from '#lib/gateway/settlement/record/stored-lines';
import { errorColumns, usageColumns } from '#lib/gateway/settlement/usage/columns';
import { countedModelSql } from '#lib/gateway/settlement/usage/counted-model';
import { histogramPartSql, histogramSql } from '#lib/gateway/settlement/usage/histogram-sql';
import type { Query } from '#lib/platform/data/transaction/read-snapshot';
import { idFloor } from '#lib/platform/ids';

/** Splits for which no sums are kept, so that the calls themselves have to be read. */
export const callSplits = ['outcome', 'family'] as const;
export type CallSplit = (typeof callSplits)[number];

/** The most calls to read for such a split, which takes PostgreSQL some tenths of a second. */
const mostRead = 25_000;

/** Ids may be ahead of the clock or behind it by as much as it was ever changed. */
const slackMs = 60_000;

interface CallUsageQuery {
  readonly range: Range;
  readonly split: CallSplit;
  readonly startsMs: readonly number[];
  readonly filters: UsageFilters;
  /** As of `readUsage`. */
  readonly durations?: boolean | undefined;
}

const splitSql: Readonly<Record<CallSplit, string>> = {
  outcome: "coalesce(error, 'ok')",
  family: 'family',
};

/** A figure of one call as the sums count it; floats are exact far beyond this, and fast to add up. */
const figure = (of: string, name: string) => `least(greatest(trunc(coalesce(${of}."${name}", 0)), 0), 1e12)`;
const record = (of: string) => `${of} (${usageClasses.map((name) => `"${name}" float8`).join(', ')})`;
const figures = (one: (name: (typeof usageClasses)[number]) => string) =>
  usageClasses.map((name) => `${one(name)} AS ${usageColumns[name]}`).join(', ');

/** The query as conditions on `c`, and the bounds of the ids. */
interface Narrowed {
  readonly conditions: string;
  readonly starts: string;
  readonly workspace: string;
}

const timed = (name: string) =>
  `CASE WHEN c.end_reason NOT IN ('refused', 'interrupted') THEN ${histogramPartSql(`c.${name}`)} END`;

/** The list price that a job or an adjustment adds. */
const laterListSql = `
    ${ownListSql('job.lines', 'job.flags')} + CASE WHEN adjustment.call_id IS NULL THEN 0
      ELSE ${ownListSql('adjustment.lines', 'adjustment.flags')}
        - ${ownListSql('coalesce(job.lines, c.lines)', 'coalesce(job.flags, c.flags)')} END`;

/** Calls, and what their jobs and corrections added later, which are not counted as calls. $1, $2: bounds of ids. */
const figuresSql = ({ conditions, starts, workspace }: Narrowed) => `
  SELECT true AS counted, ${ownAnswerSql('c.')} AS own, width_bucket(c.at, ${starts}) AS bucket, c.family, ${errorClassSql('c.')} AS error, c.end_reason,
    json_array_length(c.attempts) AS tried, ${figures((name) => figure('u', name))}, c.cost_nano,
    ${ownListSql('c.lines', 'c.flags')} AS own_list_nano,
    ${timed('latency_ms')} AS latency, ${timed('first_byte_ms')} AS first_byte
  FROM call c CROSS JOIN LATERAL json_to_record(c.usage) AS ${record('u')} WHERE ${conditions}
  UNION ALL
  SELECT false, false, width_bucket(c.at, ${starts}), c.family, ${errorClassSql('c.')}, c.end_reason, 0,
    ${figures((name) => `${figure('j', name)} + coalesce(m."${name}", 0)`)},
    coalesce(job.cost_nano, 0) + coalesce(adjustment.amount_nano, 0), ${laterListSql}, NULL, NULL
  FROM (
    SELECT call_id FROM job WHERE workspace_id = ${workspace} AND settled_at IS NOT NULL AND call_id >= $1::uuid AND call_id < $2::uuid
    UNION SELECT call_id FROM adjustment
    WHERE workspace_id = ${workspace} AND settled_at IS NOT NULL AND call_id >= $1::uuid AND call_id < $2::uuid
  ) AS later JOIN call c ON c.id = later.call_id
  LEFT JOIN job ON job.call_id = c.id AND job.settled_at IS NOT NULL
  LEFT JOIN adjustment ON adjustment.call_id = c.id AND adjustment.settled_at IS NOT NULL
  CROSS JOIN LATERAL json_to_record(coalesce(job.usage, '{}')) AS ${record('j')}
  CROSS JOIN LATERAL json_to_record(coalesce(adjustment.more::json, '{}')) AS ${record('m')} WHERE ${conditions}`;

/**
 * Usage by a split that the roll-up does not keep, read from the calls: the same sums as `readUsage` has.
 * @throws ControlRefused (by) if there are too many, or if not all of them are still in the log.
 */
export async function readCallUsage(
  store: ReadStore,
  scope: WorkspaceScope,
  asked: CallUsageQuery,
): Promise<SplitSums[]> {
  return store.snapshot(async (query) => {
    const { range, filters, split } = asked;
    const { calls } = totalOf(
      await readUsage({ query }, scope, { range, filters, own: true, durations: false }),
    );
    if (calls > mostRead) {
      const most = mostRead.toLocaleString('en-US');
      throw badInput(
        'by',
        `usage by ${split} can be calculated for at most ${most} calls, and this range has more; choose a shorter range`,
      );
    }
    const parts = await readParts(query, scope, asked);
    if (totalOf(parts).calls !== calls) {
      throw badInput(
        'by',
        `usage by ${split} is calculated from the log, which no longer has all calls of this range; choose a later start`,
      );
    }
    return parts.filter(({ value }) => value !== ownModel);
  });
}

const withDurations = `
  SELECT counts.*, coalesce(l.latency, 0)::text AS latency, coalesce(f.first_byte, 0)::text AS first_byte FROM counts
  LEFT JOIN (${histogramSql('figures', 'latency')}) AS l USING (bucket, value)
  LEFT JOIN (${histogramSql('figures', 'first_byte')}) AS f USING (bucket, value)`;

async function readParts(
  query: Query,
  scope: WorkspaceScope,
  { range, split, startsMs, filters, durations = true }: CallUsageQuery,
): Promise<SplitSums[]> {
  const values: unknown[] = [
    idFloor(range.fromMs - slackMs),
    idFloor(range.toMs + slackMs),
    new Date(range.fromMs),
    new Date(range.toMs),
  ];
  const own = within(scope, 'c.workspace_id', values);
  const conditions = [
    own,
    'c.id >= $1::uuid',
    'c.id < $2::uuid',
    'c.at >= $3::timestamptz',
    'c.at < $4::timestamptz',
  ];
  const narrow = (column: string, given: string | undefined) => {
    if (given !== undefined) conditions.push(`${column} = $${values.push(given)}`);
  };
  narrow(countedModelSql('c.'), filters.model);
  narrow('c.key_id::text', filters.key);
  narrow("coalesce(c.provider, '')", filters.provider);
  if (filters.member !== undefined) conditions.push(madeBy('c.key_id', `$${values.push(filters.member)}`));
  const starts = `$${values.push(startsMs.map((at) => new Date(at)))}::timestamptz[]`;
  const workspace = `$${values.push(scope.workspaceId)}::uuid`;
  const narrowed = { conditions: conditions.join(' AND '), starts, workspace };
  const sum = (name: string) => `sum(${name})::text AS ${name}`;
  const count = (condition: string) => `(count(*) FILTER (WHERE counted AND ${condition}))::text`;
  const rows = await query<StoredSums>(
    `WITH figures AS MATERIALIZED (
       SELECT f.*, CASE WHEN own THEN '${ownModel}' ELSE ${splitSql[split]} END AS value FROM (${figuresSql(narrowed)}) AS f
     ), counts AS (
       SELECT bucket, value, ${count('true')} AS calls, ${count("end_reason = 'refused'")} AS refused,
         ${errorClasses.map((name) => `${count(`error = '${name}'`)} AS ${errorColumns[name]}`).join(', ')},
         sum(tried)::text AS attempts, ${count('tried > 1')} AS fallbacks,
         ${[...Object.values(usageColumns), 'cost_nano', 'own_list_nano'].map(sum).join(', ')}
       FROM figures GROUP BY 1, 2
     )
     ${durations ? withDurations : 'SELECT * FROM counts'}`,
    values,
  );
  return rows.map((row) => ({ bucket: row.bucket - 1, value: row.value, sums: sumsOf(row) }));
}
