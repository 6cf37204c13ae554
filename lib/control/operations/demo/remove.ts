import type { Change, SqlRunner } from '#lib/platform/data/change';

/** What was deleted. */
export interface Removed {
  readonly workspaceId: string;
  readonly slug: string;
  readonly calls: number;
  /** What must be published in the same transaction. */
  readonly changes: readonly Change[];
}

/** Reads and deletes inside a transaction. */
export interface DemoStore {
  query<Row>(text: string, values: readonly unknown[]): Promise<Row[]>;
  execute(text: string, values: readonly unknown[]): Promise<number>;
}

const keysOf = 'SELECT id FROM api_key WHERE workspace_id = $1::uuid';

/**
 * Rows of the workspace without a foreign key that would delete them with it. No other workspace has any of them,
 * nor has a running process: since its keys have no secret, it has no holds, leases or jobs.
 */
const beside = [
  'DELETE FROM usage_quarter WHERE workspace_id = $1::uuid',
  'DELETE FROM usage_quarter_counted WHERE workspace_id = $1::uuid',
  'DELETE FROM usage_quarter_total WHERE workspace_id = $1::uuid',
  'DELETE FROM usage_day WHERE workspace_id = $1::uuid',
  'DELETE FROM usage_day_total WHERE workspace_id = $1::uuid',
  'DELETE FROM usage_day_key WHERE workspace_id = $1::uuid',
  'DELETE FROM usage_span WHERE workspace_id = $1::uuid',
  `DELETE FROM spend_minute WHERE key_id IN (${keysOf})`,
  `DELETE FROM closed_spend WHERE key_id IN (${keysOf})`,
  'DELETE FROM call_content WHERE workspace_id = $1::uuid',
  'DELETE FROM kept_answer WHERE workspace_id = $1::uuid',
  'DELETE FROM call_repeat WHERE workspace_id = $1::uuid',
  'DELETE FROM call_feedback WHERE workspace_id = $1::uuid',
  'DELETE FROM call_tag USING tag t WHERE t.id = tag_id AND t.workspace_id = $1::uuid',
  'DELETE FROM tag_quarter WHERE workspace_id = $1::uuid',
  'DELETE FROM tag WHERE workspace_id = $1::uuid',
  'DELETE FROM ledger_check WHERE workspace_id = $1::uuid',
  'DELETE FROM open_quarter WHERE workspace_id = $1::uuid',
  'DELETE FROM ledger_line WHERE workspace_id = $1::uuid',
  'DELETE FROM ledger_day WHERE workspace_id = $1::uuid',
  'DELETE FROM audit WHERE workspace_id = $1::uuid',
];

/**
 * Deletes the demo workspace with everything in it: calls, sums, ledger, keys, policies, audit log. Nothing else changes;
 * the database refuses to delete the ledger of any other workspace.
 * @returns null if there is none.
 * @throws Error of the database.
 */
export async function removeDemo(store: DemoStore): Promise<Removed | null> {
  const [found] = await store.query<{ id: string; slug: string }>(
    'SELECT id::text AS id, slug FROM workspace WHERE demo FOR UPDATE',
    [],
  );
  if (!found) return null;
  const { id, slug } = found;
  const calls = await store.execute('DELETE FROM call WHERE workspace_id = $1::uuid', [id]);
  const keys = await store.query<{ id: string }>(
    'SELECT id::text AS id FROM api_key WHERE workspace_id = $1::uuid',
    [id],
  );
  for (const statement of beside) await store.execute(statement, [id]);
  await store.execute('DELETE FROM workspace WHERE id = $1::uuid', [id]);
  const gone = keys.map((key): Change => ({ kind: 'key', subject: key.id }));
  return { workspaceId: id, slug, calls, changes: [...gone, { kind: 'workspace', subject: id }] };
}

/** A connection inside a transaction, as `removeDemo` takes it. */
export function demoStoreOf(client: SqlRunner): DemoStore {
  const run = async (text: string, values: readonly unknown[]) => {
    const result: unknown = await client.query(text, [...values]);
    if (typeof result === 'object' && result !== null && 'rows' in result && 'rowCount' in result)
      return result;
    throw new TypeError('the connection returned no rows');
  };
  return {
    // pg gives what the statement selects, which its text names.
    query: async <Row>(text: string, values: readonly unknown[]) => (await run(text, values)).rows as Row[],
    execute: async (text, values) => Number((await run(text, values)).rowCount),
  };
}
