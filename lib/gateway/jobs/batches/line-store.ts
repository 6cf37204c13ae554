import type { Pool, PoolClient } from 'pg';
import type { LineEnd, LineTerms } from '#lib/core/batches/result';
import type { JobFacts } from '#lib/core/facts/job';
import type { CostLine } from '#lib/core/metering/cost-line';
import { type Usage, usageClasses, usageOf } from '#lib/core/metering/usage';
import { boundsOf, type ModelColumns, priceOf } from '#lib/gateway/jobs/late-charge';
import { linesJson } from '#lib/gateway/settlement/pure/call-row';
import { lineSql, storedCostLines } from '#lib/gateway/settlement/record/stored-lines';
import { jsonText } from '#lib/platform/data/json-text';
import { queryWithin } from '#lib/platform/data/query-within';

/** Statements on a few hundred lines. */
const QUERY_MS = 30_000;

const termsOf = `
  SELECT j.facts, j.hold_nano::text AS hold_nano, v.price, m.context_tokens, m.max_output_tokens, m.output
  FROM job j LEFT JOIN price_version v ON v.id = j.price_version_id LEFT JOIN model m ON m.id = j.model_id
  WHERE j.call_id = $1 AND j.settled_at IS NULL`;

/** A line that is there stays as it is: results that are read again change nothing. */
const insert = `
  INSERT INTO batch_line (call_id, custom_id, workspace_id, status, error_code, cost_nano, usage, lines, flags)
  SELECT j.call_id, r.custom_id, j.workspace_id, r.status, r.error_code, r.cost_nano, r.usage, r.lines, r.flags
  FROM json_to_recordset($2::json) AS r (custom_id text, status int, error_code text, cost_nano bigint, usage json,
    lines json, flags text[])
  JOIN job j ON j.call_id = $1 AND j.settled_at IS NULL
  ORDER BY r.custom_id
  ON CONFLICT (call_id, custom_id) DO NOTHING`;

/** The files of results belong to the workspace, and its lists show them. */
const keepFile = `
  INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id, job, created_at,
    credential, view, viewed_at)
  SELECT workspace_id, 'file', $2, provider_id, family, model_id, upstream_model, call_id, false, created_at,
    credential, $3::jsonb, now()
  FROM job WHERE call_id = $1
  ON CONFLICT (workspace_id, kind, id) DO UPDATE SET view = coalesce(resource.view, excluded.view),
    viewed_at = coalesce(resource.viewed_at, excluded.viewed_at)`;

/** A model that has left the catalogue bounds no figure more tightly than the largest one would. */
const anyModel = { contextTokens: 10_000_000, maxOutputTokens: 1_000_000 };

interface TermsRow extends ModelColumns {
  readonly facts: JobFacts;
  readonly hold_nano: string;
  readonly price: unknown;
}

/** What is known of a batch before its results are read. */
export interface CollectTerms extends LineTerms {
  /** How many lines its file had. */
  readonly count: number;
}

/** The lines of batches in PostgreSQL. */
export class LineStore {
  readonly #query: ReturnType<typeof queryWithin>;

  constructor(pool: Pool) {
    this.#query = queryWithin(pool, QUERY_MS);
  }

  /** null: it is settled. */
  async terms(callId: string): Promise<CollectTerms | null> {
    const { rows } = await this.#query<TermsRow>(termsOf, [callId]);
    const [row] = rows;
    if (!row) return null;
    const count = Math.max(1, Number(row.facts.lines ?? 1));
    return {
      count,
      endpoint: String(row.facts.endpoint ?? ''),
      price: priceOf(row.price),
      model: boundsOf(row) ?? anyModel,
      choices: Number(row.facts.choices ?? 1),
      serverTools: row.facts.serverTools !== undefined,
      heldNano: BigInt(row.hold_nano) / BigInt(count),
    };
  }

  async add(callId: string, lines: readonly LineEnd[]): Promise<void> {
    await this.#query(insert, [callId, JSON.stringify(lines.map(rowOf))]);
  }

  async keepFile(callId: string, id: string, view: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#query(keepFile, [callId, id, jsonText(view)]);
  }
}

function rowOf({ customId, status, errorCode, costNano, usage, lines, flags }: LineEnd) {
  const used = Object.fromEntries(
    usageClasses.flatMap((name) => (usage[name] === 0 ? [] : [[name, usage[name]]])),
  );
  return {
    custom_id: customId,
    status,
    error_code: errorCode,
    cost_nano: `${costNano}`,
    usage: used,
    lines: JSON.parse(linesJson(lines)) as unknown,
    flags,
  };
}

/** What the lines of a batch add up to. Money in nano-dollars. */
export interface LineSums {
  readonly lines: number;
  readonly costNano: bigint;
  readonly usage: Usage;
  /** By class and price. */
  readonly costLines: readonly CostLine[];
  readonly flags: readonly string[];
}

const sumLines =
  'SELECT count(*)::int AS lines, coalesce(sum(cost_nano), 0)::text AS cost FROM batch_line WHERE call_id = $1';
const sumUsage = `
  SELECT u.key AS name, sum(u.value::numeric)::float8 AS figure FROM batch_line b, json_each_text(b.usage) AS u
  WHERE b.call_id = $1 GROUP BY u.key`;
const sumCost = `
  SELECT json_build_array(class, quantity, price) AS line FROM (
    SELECT ${lineSql.class('l')} AS class, sum(${lineSql.quantity('l')}) AS quantity, l->>2 AS price
    FROM batch_line b, json_array_elements(b.lines) AS l WHERE b.call_id = $1 GROUP BY 1, 3 ORDER BY 1, 3
  ) AS summed`;
const allFlags = 'SELECT DISTINCT unnest(flags) AS flag FROM batch_line WHERE call_id = $1';

/** Adds up the lines of a batch, as part of its settlement. */
export async function sumOfLines(client: PoolClient, callId: string): Promise<LineSums> {
  const { rows } = await client.query<{ lines: number; cost: string }>(sumLines, [callId]);
  const used = await client.query<{ name: string; figure: number }>(sumUsage, [callId]);
  const cost = await client.query<{ line: unknown }>(sumCost, [callId]);
  const flags = await client.query<{ flag: string }>(allFlags, [callId]);
  return {
    lines: rows[0]?.lines ?? 0,
    costNano: BigInt(rows[0]?.cost ?? 0),
    usage: usageOf(Object.fromEntries(used.rows.map(({ name, figure }) => [name, figure]))),
    costLines: storedCostLines(cost.rows.map(({ line }) => line)),
    flags: flags.rows.map(({ flag }) => flag),
  };
}
