import type { Pool } from 'pg';
import type { Probed } from '#lib/control/operations/provider/probe';
import type { Store } from '#lib/control/operations/store';
import { defaultCredential } from '#lib/core/facts/pool';

/** How the latest test of a credential ended. */
export interface Tested {
  readonly provider: string;
  /** Of the credential. */
  readonly name: string;
  readonly at: Date;
  /** null: it worked. */
  readonly failure: string | null;
}

/** Tells one stored secret from another, without the secret; $1 is the name of the default credential. */
const fingerprint = (name: string) =>
  `md5((CASE WHEN ${name} = $1 THEN p.credential ELSE c.secret END)::text)`;

/** The latest tests that were made with the credentials that are stored now. @throws Error of the database. */
export function readTests(store: Pick<Store, 'query'>): Promise<Tested[]> {
  return store.query<Tested>(
    `SELECT t.provider_id AS provider, t.name, t.tested_at AS at, t.failure
     FROM credential_test t JOIN provider p ON p.id = t.provider_id
       LEFT JOIN credential c ON c.provider_id = t.provider_id AND c.name = t.name
     WHERE t.tested_as = ${fingerprint('t.name')}`,
    [defaultCredential],
  );
}

/** What a test that begins now is made with. @throws Error of the database. */
export async function readFingerprint(pool: Pool, provider: string, name: string): Promise<string | null> {
  const { rows } = await pool.query<{ print: string | null }>(
    `SELECT ${fingerprint('$3::text')} AS print FROM provider p
       LEFT JOIN credential c ON c.provider_id = p.id AND c.name = $3::text
     WHERE p.id = $2`,
    [defaultCredential, provider, name],
  );
  return rows[0]?.print ?? null;
}

/**
 * Keeps how a test ended, until the next one; it counts only as long as that credential is stored.
 * @param print its fingerprint. @throws Error of the database.
 */
export async function keepTest(
  pool: Pool,
  { provider, name, print }: Pick<Tested, 'provider' | 'name'> & { readonly print: string | null },
  { ok, status, message }: Probed,
): Promise<void> {
  const what = status === null ? 'No answer' : `Answered ${status}`;
  await pool.query(
    `INSERT INTO credential_test (provider_id, name, tested_as, failure) VALUES ($1, $2, $3, $4)
     ON CONFLICT (provider_id, name) DO UPDATE SET tested_at = now(), tested_as = excluded.tested_as,
       failure = excluded.failure`,
    [provider, name, print, ok ? null : `${what}: ${message ?? 'no reason given'}`],
  );
}
