import type { PoolClient } from 'pg';
import { resourceRows } from '#lib/gateway/resources/row';
import type { KeepEntry } from '#lib/gateway/settlement/pure/entry';

/**
 * First comes, first owns; what comes again may only tell what it used. A deleted one stays deleted. $1: a
 * JSON array of rows, in which a resource may stand twice.
 */
const statement = `
  INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id, job,
    tokens, created_at)
  SELECT DISTINCT ON (workspace_id, kind, id) workspace_id, kind, id, provider_id, family, model_id,
    upstream_model, call_id, job, tokens, created_at
  FROM json_to_recordset($1::json) AS r (workspace_id uuid, kind text, id text, provider_id text, family text,
    model_id text, upstream_model text, call_id uuid, job boolean, tokens bigint, created_at timestamptz)
  ORDER BY workspace_id, kind, id, tokens DESC, created_at
  ON CONFLICT (workspace_id, kind, id) DO UPDATE SET tokens = excluded.tokens
    WHERE resource.tokens < excluded.tokens`;

/** Inserts what the journal kept, as part of a settlement; repeated, it changes nothing. */
export async function keepResources(client: PoolClient, entries: readonly KeepEntry[]): Promise<void> {
  await client.query(statement, [rowsOf(entries)]);
}

/** The entries' arrays as one: bytes that the journal wrote, sent as they are. */
function rowsOf(entries: readonly KeepEntry[]): Buffer {
  const pieces: Uint8Array[] = [];
  for (const { row, resources } of entries) {
    const rows = (row ?? Buffer.from(resourceRows(resources))).subarray(1, -1);
    if (rows.length === 0) continue;
    pieces.push(pieces.length === 0 ? opening : comma, rows);
  }
  return Buffer.concat(pieces.length === 0 ? [opening, closing] : [...pieces, closing]);
}

const [opening, comma, closing] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
