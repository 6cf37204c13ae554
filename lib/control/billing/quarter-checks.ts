import type { Check } from '#lib/control/billing/job-checks';
import { kept, timeOf } from '#lib/control/billing/kept';
import { callsInSlice } from '#lib/control/billing/slices';
import { usageClasses } from '#lib/core/metering/usage';
import { errorClasses, errorClassSql } from '#lib/gateway/settlement/pure/error-class';
import { ownModel } from '#lib/gateway/settlement/pure/own-answer';
import { lineSql, ownListSql } from '#lib/gateway/settlement/record/stored-lines';
import { errorColumns, sumNames, usageColumns } from '#lib/gateway/settlement/usage/columns';
import { countedModelSql } from '#lib/gateway/settlement/usage/counted-model';
import { histogramPartSql } from '#lib/gateway/settlement/usage/histogram-sql';

/** Classes of cost lines that a figure is the sum of; see metering/anomaly. */
const lineClasses: Readonly<Record<keyof typeof usageColumns, string>> = {
  input: 'input,audioInput,imageInput',
  cachedInput: 'cachedInput,cachedAudioInput,cachedImageInput',
  cacheWrite5m: 'cacheWrite5m',
  cacheWrite1h: 'cacheWrite1h',
  output: 'output,reasoning,audioOutput,imageOutput',
  reasoning: 'reasoning',
  audioInput: 'audioInput',
  audioOutput: 'audioOutput',
  imageInput: 'imageInput',
  imageOutput: 'imageOutput',
  cachedAudioInput: 'cachedAudioInput',
  cachedImageInput: 'cachedImageInput',
  images: 'image',
  videoSeconds: 'videoSecond',
  webSearches: 'webSearch',
  characters: 'characters',
  audioMs: 'audioMs',
};

const eachFigure = (write: (name: keyof typeof usageColumns) => string, between = ', ') =>
  usageClasses.map(write).join(between);
const record = (of: string) => `${of} (${eachFigure((name) => `"${name}" numeric`)})`;

const inSlice = (at: string) => `${at} >= $1::timestamptz AND ${at} < $2::timestamptz`;

/** Versions before 0.2.0 counted what the gateway answers itself under no model, so both count as one here. */
const withoutOwn = (model: string) => `coalesce(nullif(${model}, '${ownModel}'), '')`;

/** What calls, settled jobs and settled adjustments add to the sums; columns as in `call` where they mean the same. */
const parts = `
  ${callsInSlice(`workspace_id, at, key_id, ${withoutOwn(countedModelSql())} AS model, coalesce(provider, '') AS provider, 1 AS calls,
    status, end_reason, json_array_length(attempts) AS tried, usage, NULL::json AS more, lines,
    coalesce('usage_anomaly' = ANY (flags), false) AS bounded, cost_nano, ${ownListSql('lines', 'flags')} AS own_list_nano,
    CASE WHEN end_reason NOT IN ('refused', 'interrupted') THEN latency_ms END AS latency_ms,
    CASE WHEN end_reason NOT IN ('refused', 'interrupted') THEN first_byte_ms END AS first_byte_ms`)}
  UNION ALL
  SELECT workspace_id, created_at, key_id, model_id, provider_id, 0, 0, '', 0, coalesce(usage, '{}'), NULL, lines,
    coalesce('usage_anomaly' = ANY (flags), false), cost_nano, ${ownListSql('lines', 'flags')}, NULL, NULL
  FROM job WHERE settled_at IS NOT NULL AND ${inSlice('created_at')}
  UNION ALL
  SELECT c.workspace_id, coalesce(j.created_at, c.at), c.key_id, coalesce(j.model_id, c.answering_model, ''),
    coalesce(j.provider_id, c.provider, ''), 0, 0, '', 0, '{}', a.more::json, '[]', false, a.amount_nano,
    ${ownListSql('a.lines', 'a.flags')} - ${ownListSql('coalesce(j.lines, c.lines)', 'coalesce(j.flags, c.flags)')}, NULL, NULL
  FROM adjustment a JOIN call c ON c.id = a.call_id LEFT JOIN job j ON j.call_id = a.call_id
  WHERE a.settled_at IS NOT NULL AND ${inSlice('coalesce(j.created_at, c.at)')}`;

/** Most of each figure: as the provider claimed it. */
const most = eachFigure(
  (name) => `least(greatest(coalesce(said."${name}", 0), 0), 1000000000000) AS "${name}"`,
);
/** Least of each, where a claimed figure was bounded: what was charged, by its lines. */
const least = eachFigure(
  (name) =>
    `coalesce(sum(${lineSql.quantity('l')}) FILTER (WHERE split_part(${lineSql.class('l')}, ':', 1) = ANY ('{${lineClasses[name]}}')), 0) AS "${name}"`,
);

const histogram = (ms: string) => `coalesce(sum(('1e' || 12 * ${histogramPartSql(ms)})::numeric), 0)`;

const counts = [
  ['calls', 'sum(calls)'],
  ['refused', "count(*) FILTER (WHERE end_reason = 'refused')"],
  ...errorClasses.map((name) => [errorColumns[name], `count(*) FILTER (WHERE error = '${name}')`] as const),
  ['attempts', 'sum(tried)'],
  ['fallbacks', 'count(*) FILTER (WHERE tried > 1)'],
  ['cost_nano', 'sum(cost_nano)'],
  ['own_list_nano', 'sum(own_list_nano)'],
  ['latency', histogram('latency_ms')],
  ['first_byte', histogram('first_byte_ms')],
] as const;

const place = 'workspace_id, quarter, key_id, model, provider';
const names = (of: string) => counts.map(([name]) => `${of}.${name}`).join(', ');

const added = sumNames.map((name) => `sum(${name}) AS ${name}`).join(', ');
const quartersIn = (table: string) => `
  SELECT q.* FROM (SELECT id FROM workspace UNION SELECT workspace_id FROM done) AS w CROSS JOIN LATERAL (
    SELECT ${place}, ${sumNames.join(', ')} FROM ${table}
    WHERE workspace_id = w.id AND ${inSlice('quarter')}) AS q`;
/** All quarters, whether a day counts them or none; also those of workspaces that are gone. */
const quarters = `
  SELECT workspace_id, quarter, key_id, ${withoutOwn('model')} AS model, provider, ${added} FROM (
    ${quartersIn('usage_quarter')} UNION ALL ${quartersIn('usage_quarter_counted')}
  ) AS part GROUP BY 1, 2, 3, 4, 5`;
const ofDay = 'workspace_id, day, key_id, model, provider';

const sumsOf = (of: string) => sumNames.map((name) => `${of}.${name}`).join(', ');

/** Rows of sums that do not agree with the rows they sum up. @param by their primary key besides the workspace. */
const unlike = (table: string, by: readonly string[], source: string) => `
  SELECT workspace_id AS workspace, ${[
    ['quarter', 'quarter'],
    ['day', 'day'],
    ['key_id', 'key'],
    ['model', 'model'],
    ['provider', 'provider'],
  ]
    .map(([name = '', label]) => `${by.includes(name) ? name : 'NULL'}::text AS ${label}`)
    .join(', ')}, said.calls::int, summed.calls::int AS counted,
    said.cost_nano::text AS cost, summed.cost_nano::text AS charged
  FROM ${table} AS said FULL JOIN (
    SELECT workspace_id, ${by.join(', ')}, ${added} FROM ${source} GROUP BY workspace_id, ${by.join(', ')}
  ) AS summed USING (workspace_id, ${by.join(', ')})
  WHERE (${sumsOf('said')}) IS DISTINCT FROM (${sumsOf('summed')})`;

/** The next round sums these days again, from their quarters. */
const remedy = `run "UPDATE usage_span SET state = 'due' WHERE state = 'summed'" on the database: within an hour, a gateway sums all days again from their quarters`;

/** The sums of usage against what they are the sums of. */
export const quarterChecks: readonly Check[] = [
  {
    // Sums carried over from hours count a bounded figure anywhere in its hour, as it was claimed.
    name: 'the quarters of usage agree with the calls, jobs and adjustments',
    sliced: true,
    sql: `WITH part AS NOT MATERIALIZED (${parts}
      ), figures AS (
        SELECT p.*, ${errorClassSql()} AS error, ${eachFigure((name) => `claimed."${name}" AS least_${name}, 0 AS slack_${name}`)}
        FROM part AS p CROSS JOIN LATERAL (SELECT ${most} FROM json_to_record(p.usage) AS ${record('said')}) AS claimed
        WHERE NOT bounded AND more IS NULL
        UNION ALL
        SELECT p.*, ${errorClassSql()} AS error,
          ${eachFigure((name) => `coalesce(charged."${name}", claimed."${name}") + coalesce(m."${name}", 0), claimed."${name}" - coalesce(charged."${name}", claimed."${name}")`)}
        FROM part AS p
        CROSS JOIN LATERAL json_to_record(coalesce(p.more, '{}')) AS ${record('m')}
        CROSS JOIN LATERAL (SELECT ${most} FROM json_to_record(p.usage) AS ${record('said')}) AS claimed
        LEFT JOIN LATERAL (SELECT ${least} FROM json_array_elements(p.lines) AS l) AS charged ON bounded
        WHERE bounded OR more IS NOT NULL
      ), done AS (
        SELECT workspace_id, date_bin('15 minutes', at, '2000-01-01T00:00:00Z') AS quarter, key_id, model, provider,
          ${counts.map(([name, sum]) => `${sum} AS ${name}`).join(', ')},
          ${eachFigure((name) => `sum(least_${name}) AS least_${name}, sum(slack_${name}) AS own_slack_${name}`)}
        FROM figures GROUP BY 1, 2, 3, 4, 5
      ), hourly AS (
        SELECT *, ${eachFigure((name) => `sum(own_slack_${name}) OVER hour AS slack_${name}`)}
        FROM done WINDOW hour AS (PARTITION BY workspace_id, date_trunc('hour', quarter, 'UTC'), key_id, model, provider)
      )
      SELECT workspace_id AS workspace, quarter, key_id AS key, model, provider, u.calls::int, d.calls::int AS logged,
        u.cost_nano::text AS cost, d.cost_nano::text AS charged
      FROM (${quarters}) AS u FULL JOIN hourly d USING (${place})
      LEFT JOIN (SELECT workspace_id, max(deleted_to::text) AS id FROM ledger_check GROUP BY 1) AS deleted
        USING (workspace_id)
      LEFT JOIN ${kept} AS kept USING (workspace_id)
      WHERE (kept.since IS NULL OR quarter > kept.since)
        AND (deleted.id IS NULL OR quarter > ${timeOf('deleted.id')} + interval '1 hour')
        AND (u.calls IS NOT NULL OR d.calls > 0 OR d.cost_nano > 0)
        AND NOT EXISTS (SELECT FROM usage_span s WHERE s.workspace_id = d.workspace_id AND s.state = 'folded'
          AND s.until > d.quarter)
        AND ((${names('u')}) IS DISTINCT FROM (${names('d')})
          OR ${eachFigure((name) => `u.${usageColumns[name]} NOT BETWEEN d.least_${name} AND d.least_${name} + d.slack_${name}`, ' OR ')})`,
  },
  {
    name: 'the days of usage are the sums of the quarters that they count, each once',
    remedy,
    sql: `WITH made AS (
        SELECT workspace_id, day, until FROM usage_span WHERE state = 'summed'
      ), said AS (
        SELECT d.* FROM usage_day d JOIN made USING (workspace_id, day)
      ), summed AS (
        SELECT ${ofDay}, ${added} FROM made JOIN usage_quarter_counted q USING (workspace_id)
        WHERE quarter >= day AND quarter < made.until GROUP BY ${ofDay}
      )
      SELECT workspace_id AS workspace, day, key_id AS key, model, provider, said.calls::int, summed.calls::int AS counted,
        said.cost_nano::text AS cost, summed.cost_nano::text AS charged
      FROM said FULL JOIN summed USING (${ofDay})
      WHERE (${sumsOf('said')}) IS DISTINCT FROM (${sumsOf('summed')})
      UNION ALL
      SELECT a.workspace_id, b.day, NULL, 'days overlap', '', NULL, NULL, NULL, NULL
      FROM made AS a JOIN made AS b USING (workspace_id) WHERE b.day > a.day AND b.day < a.until`,
  },
  {
    name: 'the sums of usage of all keys together, and of each key by day, agree with those of each key and model',
    remedy,
    sql: [
      unlike('usage_quarter_total', ['quarter', 'model', 'provider'], 'usage_quarter_counted'),
      unlike('usage_day_total', ['day', 'model', 'provider'], 'usage_day'),
      unlike('usage_day_key', ['day', 'key_id'], `usage_day WHERE model <> '${ownModel}'`),
    ].join(' UNION ALL '),
  },
];
