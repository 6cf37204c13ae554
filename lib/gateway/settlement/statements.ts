import { callColumns } from '#lib/gateway/settlement/pure/record/columns';

/**
 * The statements of one settlement, set-based: rows arrive as one parameter. No named statements and no
 * session state, because the embedded database multiplexes its connections.
 */

/** The number of the type of a call's row: databases number their own types, and arrays name theirs. */
export const rowType = "SELECT 'call_record'::regtype::oid AS oid";

const callNames = callColumns.map(([name]) => name).join(', ');

const insert = `INSERT INTO call (${callNames}, over_hold_nano)
    SELECT ${callNames}, greatest(0, cost_nano - hold_nano) FROM unnest($1::call_record[])`;

/** As `insertCalls`, where all rows are new; the database refuses all of them where one is there (23505). */
export const insertNewCalls = insert;

/**
 * Calls in one statement. Dedupes by primary key: only the rows that are new have effects.
 * $1: array of rows of type `call_record`, in the order of their ids, in which they are locked; $2: how many.
 * Returns how many are new and, unless all are, which.
 */
export const insertCalls = `
  WITH fresh AS (
    ${insert}
    ON CONFLICT (id) DO NOTHING RETURNING id
  )
  SELECT count(*)::int AS fresh, CASE WHEN count(*) < $2::int THEN array_agg(id::text) END AS ids FROM fresh`;

export const lockKeys = `
  SELECT k.id, k.workspace_id, k.quota_nano::text AS quota_nano, k.spent_nano::text AS spent_nano, k.quota_exhausted
  FROM api_key k WHERE k.id = ANY ($1::uuid[]) ORDER BY k.id FOR NO KEY UPDATE`;

export const chargeKeys = `
  UPDATE api_key k SET spent_nano = k.spent_nano + r.spent,
    last_used_at = greatest(k.last_used_at, r.used),
    quota_exhausted = k.quota_exhausted OR r.id = ANY ($4::uuid[])
  FROM unnest($1::uuid[], $2::bigint[], $3::timestamptz[]) AS r (id, spent, used) WHERE k.id = r.id`;

export const lockLeases = `
  SELECT l.subject_id FROM lease l
  JOIN unnest($2::text[], $3::uuid[]) AS r (kind, subject) ON l.kind = r.kind AND l.subject_id = r.subject
  WHERE l.owner_id = $1::uuid ORDER BY l.kind, l.subject_id FOR UPDATE OF l`;

/** What was charged need no longer be leased: it is out of the balance now. */
export const shrinkLeases = `
  UPDATE lease l SET granted_nano = greatest(0, l.granted_nano - r.spent)
  FROM unnest($2::text[], $3::uuid[], $4::bigint[]) AS r (kind, subject, spent)
  WHERE l.owner_id = $1::uuid AND l.kind = r.kind AND l.subject_id = r.subject`;

/** A hold without an owner is a job's: its create call ends without it. */
export const deleteHolds = `
  DELETE FROM hold WHERE call_id IN (
    SELECT call_id FROM hold WHERE call_id = ANY ($1::uuid[]) AND owner_id IS NOT NULL
    ORDER BY call_id FOR UPDATE)`;

export const addMinutes = `
  INSERT INTO spend_minute (key_id, minute, spent_nano)
  SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::bigint[]) AS r (key_id, minute, spent_nano)
  ORDER BY key_id, minute
  ON CONFLICT (key_id, minute) DO UPDATE SET spent_nano = spend_minute.spent_nano + excluded.spent_nano`;

/** Names of tags that are new. $1: ids, $2: workspaces, $3: names, $4: values. */
export const addTags = `
  INSERT INTO tag (id, workspace_id, name, value)
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS r (id, workspace_id, name, value)
  ORDER BY id ON CONFLICT (id) DO NOTHING`;

export const addCallTags = `
  INSERT INTO call_tag (call_id, tag_id) SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS r (call_id, tag_id)
  ON CONFLICT DO NOTHING`;

const tagFigures = ['calls', 'refused', 'errors', 'input_tokens', 'output_tokens', 'cost_nano'];
const addedTagFigures = tagFigures
  .map((name) => `${name} = tag_quarter.${name} + excluded.${name}`)
  .join(', ');

/** $1: tags, $2: quarters, $3: workspaces, then the figures. */
export const addTagQuarters = `
  INSERT INTO tag_quarter (tag_id, quarter, workspace_id, ${tagFigures.join(', ')})
  SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[], $4::int[], $5::int[], $6::int[], $7::bigint[],
    $8::bigint[], $9::bigint[]) AS r (tag_id, quarter, workspace_id, ${tagFigures.join(', ')})
  ORDER BY tag_id, quarter
  ON CONFLICT (tag_id, quarter) DO UPDATE SET ${addedTagFigures}`;

/** What a call with these tags is charged later, at its admission: $1: the call, $2: quarter, $3: workspace, $4: tokens. */
export const addLateTags = `
  INSERT INTO tag_quarter (tag_id, quarter, workspace_id, input_tokens, output_tokens, cost_nano)
  SELECT tag_id, $2::timestamptz, $3::uuid, $4::bigint, $5::bigint, $6::bigint FROM (
    SELECT tag_id FROM call_tag WHERE call_id = $1::uuid UNION SELECT tag_id FROM hold_tag WHERE call_id = $1::uuid
  ) AS tags ORDER BY tag_id
  ON CONFLICT (tag_id, quarter) DO UPDATE SET ${addedTagFigures}`;

export const insertAudits = `
  INSERT INTO audit (id, workspace_id, actor, action, subject, detail)
  SELECT gen_random_uuid(), r.workspace, 'settlement', 'key.exhaust', r.key, '{"quotaExhausted": true}'
  FROM unnest($1::uuid[], $2::text[]) AS r (workspace, key)`;
