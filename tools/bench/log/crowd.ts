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
  /** Users who made its keys, one key after the other in turn. */
  readonly members: readonly string[];
}

/** How many there are of each. */
export interface Crowd {
  readonly workspaces: number;
  /** Keys of the first workspace; the n-th has 1/√n as many. */
  readonly keys: number;
}

/** Keys for each member. */
const keysEach = 25;

/**
 * Creates workspaces and keys, and the tables from which calls are drawn: the n-th workspace calls 1/n as often as the
 * first, and so do the keys of each. A key mostly uses one model, sometimes a second one, and rarely any other.
 */
export async function makeCrowd(pool: Pool, { workspaces, keys: most }: Crowd): Promise<Tenant[]> {
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
    const keys = Array.from({ length: Math.max(2, Math.round(most / Math.sqrt(n + 1))) }, () => newRowId());
    const members = Array.from({ length: Math.ceil(keys.length / keysEach) }, () => newRowId());
    return { id: newRowId(), slug: `bench-${n + 1}`, keys, members };
  });
  const drawn: { tenant: Tenant; keyId: string; main: number; second: number; weight: number }[] = [];
  for (const [n, tenant] of tenants.entries()) {
    await pool.query('INSERT INTO workspace (id, slug, name) VALUES ($1, $2, $2)', [tenant.id, tenant.slug]);
    await pool.query(
      `INSERT INTO "user" (id, email) SELECT id, id || '@bench.invalid' FROM unnest($1::uuid[]) AS m (id)`,
      [tenant.members],
    );
    await pool.query(
      `INSERT INTO member (workspace_id, user_id, role) SELECT $1, id, 'developer' FROM unnest($2::uuid[]) AS m (id)`,
      [tenant.id, tenant.members],
    );
    const { members, keys } = tenant;
    await pool.query(
      `INSERT INTO api_key (id, workspace_id, name, hash, display_start, display_end, models, daily_cap_nano, created_by)
       SELECT id, $1, 'key ' || at, uuid_send(id), 'mg_', 'x', '{}', CASE WHEN at % 10 = 0 THEN 1000000000 END,
         ($3::uuid[])[1 + at % cardinality($3::uuid[])]
       FROM unnest($2::uuid[]) WITH ORDINALITY AS k (id, at)`,
      [tenant.id, keys, members],
    );
    const inside = keys.reduce((sum, _, k) => sum + 1 / (k + 1), 0);
    for (const [k, keyId] of keys.entries()) {
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
