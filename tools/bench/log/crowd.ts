import type { Pool } from 'pg';
import { newRowId } from '#lib/platform/data/row-id';

/** Models of the log and their prices, nano-dollars per token; each has one provider. */
const models = [
  ['openai/gpt-4.1', 'openai', 2000, 8000],
  ['openai/gpt-4.1-mini', 'openai', 400, 1600],
  ['anthropic/claude-sonnet-4.5', 'anthropic', 3000, 15000],
  ['google/gemini-2.5-flash', 'google', 300, 2500],
  ['openai/gpt-5', 'openai', 1250, 10000],
  ['anthropic/claude-haiku-4.5', 'anthropic', 1000, 5000],
  ['google/gemini-2.5-pro', 'google', 1250, 10000],
  ['deepseek/deepseek-v3.2', 'deepseek', 280, 420],
  ['mistral/mistral-medium-3', 'mistral', 400, 2000],
  ['meta/llama-4-maverick', 'together', 270, 850],
  ['qwen/qwen3-235b-a22b', 'fireworks', 220, 880],
  ['openai/o4-mini', 'openai', 1100, 4400],
] as const;

/** A workspace of the log, the busiest first. */
export interface Tenant {
  readonly id: string;
  readonly slug: string;
  /** Its keys, the busiest first. */
  readonly keys: readonly string[];
}

/**
 * Creates workspaces and keys, and the tables from which calls are drawn: the n-th workspace calls 1/n as often as the
 * first, and so do the keys of each. A key mostly uses one model, sometimes a second one, and rarely any other.
 */
export async function makeCrowd(pool: Pool, workspaces: number): Promise<Tenant[]> {
  await pool.query(
    'CREATE TABLE bench_model (i INT PRIMARY KEY, model TEXT, provider TEXT, price UUID, input INT, output INT)',
  );
  await pool.query(
    'CREATE TABLE bench_slot (slot INT PRIMARY KEY, workspace_id UUID, key_id UUID, main INT, second INT)',
  );
  for (const [i, [model, provider, input, output]] of models.entries()) {
    const values = [i, model, provider, newRowId(), input, output];
    await pool.query('INSERT INTO bench_model VALUES ($1, $2, $3, $4, $5, $6)', values);
  }
  const tenants = Array.from({ length: workspaces }, (_, n) => {
    const keys = Array.from({ length: Math.max(2, Math.round(20 / Math.sqrt(n + 1))) }, () => newRowId());
    return { id: newRowId(), slug: `bench-${n + 1}`, keys };
  });
  const drawn: { tenant: Tenant; keyId: string; main: number; second: number; weight: number }[] = [];
  for (const [n, tenant] of tenants.entries()) {
    await pool.query('INSERT INTO workspace (id, slug, name) VALUES ($1, $2, $2)', [tenant.id, tenant.slug]);
    const inside = tenant.keys.reduce((sum, _, k) => sum + 1 / (k + 1), 0);
    for (const [k, keyId] of tenant.keys.entries()) {
      await pool.query(
        `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end, models)
         VALUES ($1, $2, $3, $4, 'mg_', 'x', '{}')`,
        [keyId, tenant.id, `key ${k + 1}`, Buffer.from(keyId)],
      );
      const weight = 1 / (n + 1) / (k + 1) / inside;
      drawn.push({ tenant, keyId, main: (n + k) % 6, second: (n * 5 + k * 3) % models.length, weight });
    }
  }
  await fillSlots(pool, drawn);
  return tenants;
}

const slots = 20_000;

/** Slots in proportion to the share of calls; every key has at least one. */
async function fillSlots(
  pool: Pool,
  drawn: readonly { tenant: Tenant; keyId: string; main: number; second: number; weight: number }[],
): Promise<void> {
  const all = drawn.reduce((sum, { weight }) => sum + weight, 0);
  const rows = drawn.flatMap(({ tenant, keyId, main, second, weight }) =>
    Array.from({ length: Math.max(1, Math.round((weight / all) * slots)) }, () => [
      tenant.id,
      keyId,
      main,
      second,
    ]),
  );
  await pool.query(
    `INSERT INTO bench_slot SELECT (row_number() OVER () - 1)::int, w::uuid, k::uuid, m::int, s::int
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS r (w, k, m, s)`,
    [0, 1, 2, 3].map((at) => rows.map((row) => String(row[at]))),
  );
}
