/** What changed, for the snapshots of every process (contract: durability/change-feed). */
export interface Change {
  readonly kind: 'key' | 'workspace' | 'catalogue' | 'policy' | 'lease' | 'resource';
  /**
   * Id of the key or workspace; of a lease "workspace:<id>" or "key:<id>"; of a resource "<workspace id>
   * <kind> <id>"; "" for the catalogue.
   */
  readonly subject: string;
}

/** Anything that runs a statement inside the changing transaction. */
export interface SqlRunner {
  query(text: string, values: unknown[]): Promise<unknown>;
}

/** Where PostgreSQL announces the commit of a transaction that published something, so that others poll. */
export const noticeChannel = 'model_gateway_change';

const statement = `
  WITH head AS (
    UPDATE change_head SET position = position + $1 WHERE one = 1 RETURNING position
  ), told AS (
    INSERT INTO change (position, kind, subject)
    SELECT head.position - $1 + c.n, c.kind, c.subject
    FROM head, unnest($2::text[], $3::text[]) WITH ORDINALITY AS c (kind, subject, n)
  )
  SELECT pg_notify('${noticeChannel}', '') FROM head`;

/**
 * Publishes changes: must be the LAST statement of the transaction that made them. The row lock on
 * `change_head` is held until commit, so positions become visible in the order of commits; a sequence
 * would let an earlier number commit later and be missed.
 */
export async function publish(sql: SqlRunner, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return;
  await sql.query(statement, [changes.length, changes.map((c) => c.kind), changes.map((c) => c.subject)]);
}

/** Lets `publish` run inside an interactive Prisma transaction. */
export function sqlOf(tx: {
  $executeRawUnsafe(query: string, ...values: unknown[]): Promise<number>;
}): SqlRunner {
  return { query: (text, values) => tx.$executeRawUnsafe(text, ...values) };
}
