import { webhookContext } from '#lib/control/alerts/sign';
import type { Store } from '#lib/control/operations/store';
import { credentialContext, openWith, type SealingKey } from '#lib/platform/sealing';

/** A column that holds secrets, each sealed for its row and this column alone. */
interface SealedColumn {
  readonly what: 'provider credential' | 'webhook secret';
  /** The next rows behind $1 (an id as text; "" for the first), at most $2. */
  readonly rows: string;
  /** Puts $3 in the place of $2 in the row $1, unless somebody has stored another one meanwhile. */
  readonly replace: string;
  /** What the secret of a row is bound to. */
  context(id: string): string;
}

/** All that ENCRYPTION_KEY seals in the database (contract: operations/secret-rotation). */
const sealedColumns: readonly SealedColumn[] = [
  {
    what: 'provider credential',
    rows: `SELECT id, credential->>'sealed' AS sealed FROM provider
      WHERE id > $1 AND credential->>'sealed' IS NOT NULL ORDER BY id LIMIT $2::int`,
    replace: `UPDATE provider SET credential = jsonb_build_object('sealed', $3::text)
      WHERE id = $1 AND credential->>'sealed' = $2`,
    context: credentialContext,
  },
  {
    what: 'webhook secret',
    rows: `SELECT id::text AS id, secret AS sealed FROM webhook
      WHERE $1 = '' OR id > NULLIF($1, '')::uuid ORDER BY webhook.id LIMIT $2::int`,
    replace: 'UPDATE webhook SET secret = $3 WHERE id = $1::uuid AND secret = $2',
    context: webhookContext,
  },
];

/** A stored secret; `plain` null: none of the keys opens it. */
export interface StoredSecret {
  readonly column: SealedColumn;
  readonly id: string;
  readonly sealed: string;
  readonly plain: string | null;
  /** ENCRYPTION_KEY itself sealed it. */
  readonly current: boolean;
}

/** Rows that are read at a time. */
const pageRows = 500;

/** All stored secrets, in the order of their columns and ids. */
export async function* storedSecrets(store: Store, key: SealingKey): AsyncGenerator<StoredSecret> {
  for (const column of sealedColumns) {
    for (let after = ''; ; ) {
      const rows = await store.query<{ id: string; sealed: string }>(column.rows, [after, pageRows]);
      for (const row of rows) yield { column, ...row, ...opened(row, column, key) };
      const last = rows.at(-1);
      if (last === undefined || rows.length < pageRows) break;
      after = last.id;
    }
  }
}

function opened({ id, sealed }: { id: string; sealed: string }, column: SealedColumn, key: SealingKey) {
  try {
    return openWith(sealed, key, column.context(id));
  } catch {
    return { plain: null, current: false };
  }
}
