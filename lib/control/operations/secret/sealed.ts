import { webhookContext } from '#lib/control/alerts/sign';
import type { Store } from '#lib/control/operations/store';
import { credentialContext, openWith, ownKeyContext, type SealingKey } from '#lib/platform/sealing';

/** A column of secrets, each sealed for its row and this column. */
interface SealedColumn {
  readonly what: 'provider credential' | 'webhook secret' | 'own key';
  /** The next rows after $1 (an id as text; "" for the first), at most $2. */
  readonly rows: string;
  /** Replaces $2 with $3 in the row $1, unless another value was stored meanwhile. */
  readonly replace: string;
  /** What the secret of a row is bound to. */
  context(id: string): string;
}

function ownKeyColumn(column: 'secret' | 'pending'): SealedColumn {
  const place = `workspace_id || '/' || id`;
  return {
    what: 'own key',
    rows: `SELECT ${place} AS id, ${column} AS sealed FROM own_key
      WHERE ${place} > $1 AND ${column} IS NOT NULL ORDER BY ${place} LIMIT $2::int`,
    replace: `UPDATE own_key SET ${column} = $3 WHERE ${place} = $1 AND ${column} = $2`,
    context: (id) => {
      const [workspaceId = '', key = ''] = id.split('/');
      return ownKeyContext(workspaceId, key);
    },
  };
}

/** Everything in the database that is sealed with ENCRYPTION_KEY (contract: operations/secret-rotation). */
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
    what: 'provider credential',
    rows: `SELECT provider_id || '/' || name AS id, secret->>'sealed' AS sealed FROM credential
      WHERE provider_id || '/' || name > $1 AND secret->>'sealed' IS NOT NULL ORDER BY id LIMIT $2::int`,
    replace: `UPDATE credential SET secret = jsonb_build_object('sealed', $3::text)
      WHERE provider_id || '/' || name = $1 AND secret->>'sealed' = $2`,
    context: (id) => credentialContext(id),
  },
  {
    what: 'webhook secret',
    rows: `SELECT id::text AS id, secret AS sealed FROM webhook
      WHERE $1 = '' OR id > NULLIF($1, '')::uuid ORDER BY webhook.id LIMIT $2::int`,
    replace: 'UPDATE webhook SET secret = $3 WHERE id = $1::uuid AND secret = $2',
    context: webhookContext,
  },
  ownKeyColumn('secret'),
  ownKeyColumn('pending'),
];

/** A stored secret; `plain` null: no key can open it. */
export interface StoredSecret {
  readonly column: SealedColumn;
  readonly id: string;
  readonly sealed: string;
  readonly plain: string | null;
  /** Whether it is sealed with ENCRYPTION_KEY itself. */
  readonly current: boolean;
}

/** Rows to read at a time. */
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
