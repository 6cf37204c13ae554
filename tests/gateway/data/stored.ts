import type { Pool } from 'pg';
import type { Shape } from '#tests/gateway/data/declared';

const ours = `c.relnamespace = 'public'::regnamespace AND NOT c.relispartition AND c.relname <> '_prisma_migrations'`;

const columns = `
  SELECT c.relname || '.' || a.attname || ': ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attnotnull THEN '' ELSE ' null' END || CASE WHEN a.atthasdef THEN ' default' ELSE '' END AS line
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p') AND ${ours}`;

/** Partial indexes and those over expressions are left out: Prisma cannot say them. */
const indexes = `
  SELECT c.relname || ': ' || CASE WHEN i.indisprimary THEN 'primary key' WHEN i.indisunique THEN 'unique' ELSE 'index' END
    || ' ' || n.relname || ' ('
    || (SELECT string_agg(a.attname, ', ' ORDER BY k.position) FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum) || ')' AS line
  FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid JOIN pg_class n ON n.oid = i.indexrelid
  WHERE i.indpred IS NULL AND i.indexprs IS NULL AND ${ours}`;

const actions = `CASE %s WHEN 'c' THEN 'Cascade' WHEN 'r' THEN 'Restrict' WHEN 'n' THEN 'SetNull' ELSE 'NoAction' END`;

const references = `
  SELECT c.relname || ': reference ' || f.conname || ' to ' || t.relname || ' on delete '
    || ${actions.replace('%s', 'f.confdeltype')} || ' on update ' || ${actions.replace('%s', 'f.confupdtype')} AS line
  FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class t ON t.oid = f.confrelid
  WHERE f.contype = 'f' AND ${ours}`;

/** What a database has of what the schema file could say. */
export async function storedShape(pool: Pool): Promise<Shape> {
  const answers = await Promise.all(
    [columns, indexes, references].map((text) => pool.query<{ line: string }>(text)),
  );
  return answers.flatMap(({ rows }) => rows.map((row) => row.line)).sort();
}
