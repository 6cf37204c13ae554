import { hash, verify } from '@node-rs/argon2';
import type { Store } from '#lib/control/operations/store';
import type { Env } from '#lib/platform/env/env';
import type { SecretName } from '#lib/platform/env/env-secrets';

/**
 * Cheap parameters: anyone who has the database can try secrets faster on what they seal and hash, so that more would protect
 * nothing (docs/decisions/secrets.md).
 */
const cost = { memoryCost: 4_096, timeCost: 2, parallelism: 1 };

/** A secret of this process: the value in use, then old values that are still valid. */
export interface HeldSecret {
  readonly name: SecretName;
  readonly values: readonly [string, ...string[]];
  /** Whether the value in use is too short to be safe. */
  readonly short: boolean;
}

/** A secret compared with its print in the database. */
export interface ComparedSecret extends HeldSecret {
  /** Index of the matching value; null: none matches. Without a print, 0. */
  readonly at: number | null;
  /** null: the database has no print. */
  readonly recordedAt: Date | null;
}

/** The secrets of a process. */
export function heldSecretsOf(
  env: Pick<
    Env,
    | 'nextAuthSecret'
    | 'oldNextAuthSecrets'
    | 'encryptionKey'
    | 'oldEncryptionKeys'
    | 'keyPepper'
    | 'shortSecrets'
  >,
): readonly HeldSecret[] {
  const held = (name: SecretName, ...values: HeldSecret['values']): HeldSecret => {
    return { name, values, short: env.shortSecrets.includes(name) };
  };
  return [
    held('NEXTAUTH_SECRET', env.nextAuthSecret, ...env.oldNextAuthSecrets),
    held('ENCRYPTION_KEY', env.encryptionKey, ...env.oldEncryptionKeys),
    held('KEY_PEPPER', env.keyPepper),
  ];
}

/** Compares secrets with their prints, each value at a cost of some milliseconds. */
export async function comparePrints(
  { query }: Pick<Store, 'query'>,
  secrets: readonly HeldSecret[],
): Promise<ComparedSecret[]> {
  const rows = await query<{ name: string; print: string; at: Date }>(
    'SELECT name, print, recorded_at AS at FROM secret_print',
    [],
  );
  const prints = new Map(rows.map((row) => [row.name, row]));
  return Promise.all(
    secrets.map(async (secret): Promise<ComparedSecret> => {
      const row = prints.get(secret.name);
      if (!row) return { ...secret, at: 0, recordedAt: null };
      return { ...secret, at: await placeOf(row.print, secret.values), recordedAt: row.at };
    }),
  );
}

async function placeOf(print: string, values: readonly string[]): Promise<number | null> {
  for (const [at, value] of values.entries()) if (await verify(print, value)) return at;
  return null;
}

/** Records the print of each value in use that has none; of several processes at once, one does. */
export async function recordPrints(
  { execute }: Pick<Store, 'execute'>,
  secrets: readonly HeldSecret[],
): Promise<void> {
  const prints = await Promise.all(secrets.map(({ values }) => hash(values[0], cost)));
  await execute(
    `INSERT INTO secret_print (name, print) SELECT * FROM unnest($1::text[], $2::text[])
     ON CONFLICT (name) DO NOTHING`,
    [secrets.map(({ name }) => name), prints],
  );
}

/** Makes the value in use the accepted one. @returns when. */
export async function replacePrint(
  { query }: Pick<Store, 'query'>,
  { name, values }: HeldSecret,
): Promise<Date | undefined> {
  const rows = await query<{ at: Date }>(
    `INSERT INTO secret_print (name, print) VALUES ($1, $2)
     ON CONFLICT (name) DO UPDATE SET print = excluded.print, recorded_at = now() RETURNING recorded_at AS at`,
    [name, await hash(values[0], cost)],
  );
  return rows[0]?.at;
}

const consequences: Readonly<Record<SecretName, string>> = {
  NEXTAUTH_SECRET: 'all users would be signed out',
  ENCRYPTION_KEY: 'stored credentials and secrets of webhooks could not be read',
  KEY_PEPPER: 'no API key would work',
};

/** What to do about a secret that does not match the database; null: it does (contract: operations/secret-prints). */
export function problemOf({ name, at }: ComparedSecret): string | null {
  if (at !== null) return null;
  const beside = name === 'KEY_PEPPER' ? '' : ` (or in addition to a new one, as ${name}_OLD)`;
  return `${name}: not the value that this database is used with; with this one, ${consequences[name]}. Restore the right value${beside}, or run "gateway secret accept ${name}" to continue with this one.`;
}
