import type { Pool } from 'pg';
import type { Probed } from '#lib/control/operations/provider/probe';
import type { Store } from '#lib/control/operations/store';

/** How the latest test of a provider ended. */
export interface Tested {
  readonly id: string;
  readonly at: Date;
  /** null: it worked. */
  readonly failure: string | null;
}

/** Tells one stored credential from another, without the credential. */
const fingerprint = 'md5(credential::text)';

/** The latest tests that were made with the credentials that are stored now. @throws Error of the database. */
export function readTests(store: Pick<Store, 'query'>): Promise<Tested[]> {
  return store.query<Tested>(
    `SELECT id, tested_at AS at, test_failure AS failure FROM provider
     WHERE tested_at IS NOT NULL AND tested_as = ${fingerprint}`,
    [],
  );
}

/** What a test that begins now is made with. @throws Error of the database. */
export async function readFingerprint(pool: Pool, id: string): Promise<string | null> {
  const { rows } = await pool.query<{ print: string | null }>(
    `SELECT ${fingerprint} AS print FROM provider WHERE id = $1`,
    [id],
  );
  return rows[0]?.print ?? null;
}

/**
 * Keeps how a test ended, until the next one; it counts only as long as that credential is stored.
 * @throws Error of the database.
 */
export async function keepTest(
  pool: Pool,
  id: string,
  print: string | null,
  { ok, status, message }: Probed,
): Promise<void> {
  const what = status === null ? 'No answer' : `Answered ${status}`;
  await pool.query('UPDATE provider SET tested_at = now(), tested_as = $2, test_failure = $3 WHERE id = $1', [
    id,
    print,
    ok ? null : `${what}: ${message ?? 'no reason given'}`,
  ]);
}
