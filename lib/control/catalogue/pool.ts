import { changedFields } from '#lib/control/catalogue/changed-fields';
import type { CatalogueSet } from '#lib/control/catalogue/files';
import { defaultCredential } from '#lib/core/facts/pool';
import type { FileCredential, FilePooled } from '#lib/core/schemas/catalogue';

/** What a credential of a pool may do (contract: operations/catalogue-pool). */
interface CredentialSettings {
  readonly weight: number;
  readonly priority: number;
  /** Requests and tokens in any 60 s; null: no limit. */
  readonly rpm: number | null;
  readonly tpm: number | null;
  /** Slugs of the models that it may serve; null: all. */
  readonly models: readonly string[] | null;
  readonly withdrawn: boolean;
}

/** Those of a credential that was never given any. */
export const plainSettings: CredentialSettings = {
  weight: 1,
  priority: 1,
  rpm: null,
  tpm: null,
  models: null,
  withdrawn: false,
};

/** A credential in the database; the secret of the default one is its provider's. */
export interface StoredCredential {
  readonly providerId: string;
  readonly name: string;
  /** Opened; null: not given, or sealed under another key. */
  readonly credential: FileCredential | null;
  /** Whether it was given by value. */
  readonly sealed: boolean;
  readonly settings: CredentialSettings;
}

export interface CredentialChange {
  readonly providerId: string;
  readonly name: string;
  readonly settings: CredentialSettings;
  /** undefined: it stays as it is. */
  readonly credential: FileCredential | undefined;
}

interface PoolDifference {
  readonly changes: readonly CredentialChange[];
  readonly leftOut: readonly StoredCredential[];
  readonly lines: readonly { readonly entry: string; readonly text: string }[];
}

export function credentialKey(providerId: string, name: string): string {
  return `${providerId} ${name}`;
}

/** A credential's name for people: "credential team-2 of openai". */
export function credentialText({ providerId, name }: Pick<StoredCredential, 'providerId' | 'name'>): string {
  return `credential ${name} of ${providerId}`;
}

/** A file without a credential leaves it, and one that names a variable replaces no value. Pure. */
export function decidesCredential(
  credential: FileCredential | undefined,
  { sealed }: { readonly sealed: boolean },
): boolean {
  if (credential === undefined) return false;
  return !(sealed && typeof credential === 'object' && 'env' in credential);
}

/**
 * Compares the pools of files with those in the database. A credential is left out if its provider's pool is in the
 * files without it; the default one never is, since the provider itself names it. Pure.
 */
export function comparePools(
  { providers }: CatalogueSet,
  stored: ReadonlyMap<string, StoredCredential>,
): PoolDifference {
  const changes: CredentialChange[] = [];
  const leftOut: StoredCredential[] = [];
  const lines: { entry: string; text: string }[] = [];
  for (const { id: providerId, credentials } of providers) {
    if (credentials === undefined) continue;
    for (const one of credentials) {
      const key = credentialKey(providerId, one.name);
      const before = stored.get(key);
      const settings = settingsOf(one);
      const decides = decidesCredential(one.credential, before ?? { sealed: false });
      const credential = decides ? one.credential : undefined;
      const name = credentialText({ providerId, name: one.name });
      const changed = before
        ? changedFields(
            { ...before.settings, credential: before.credential },
            { ...settings, ...(decides && { credential }) },
          )
        : null;
      if (changed?.length === 0) continue;
      changes.push({ providerId, name: one.name, settings, credential });
      lines.push({
        entry: `credential ${key}`,
        text: changed ? `~ ${name}: ${changed.join(', ')}` : `+ ${name}`,
      });
    }
    const named = new Set([defaultCredential, ...credentials.map(({ name }) => name)]);
    for (const one of stored.values())
      if (one.providerId === providerId && !named.has(one.name) && !one.settings.withdrawn) leftOut.push(one);
  }
  return { changes, leftOut, lines };
}

function settingsOf(one: FilePooled): CredentialSettings {
  const { weight, priority, rpm, tpm, models, withdrawn } = one;
  return { weight, priority, rpm: rpm ?? null, tpm: tpm ?? null, models: models ?? null, withdrawn };
}

/**
 * The pool of a provider as its catalogue file would write it, by name and without a value; undefined: it never got
 * more than one credential, or settings. Pure.
 */
export function filePoolOf(
  providerId: string,
  stored: ReadonlyMap<string, StoredCredential>,
): object[] | undefined {
  const pool = [...stored.values()]
    .filter((one) => one.providerId === providerId)
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  const isPlain = ({ name, settings }: StoredCredential) =>
    name === defaultCredential && changedFields({ ...plainSettings }, { ...settings }).length === 0;
  if (pool.every(isPlain)) return undefined;
  return pool.map(({ name, credential, sealed, settings }) => ({
    name,
    credential: sealed ? undefined : (credential ?? undefined),
    ...Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
  }));
}

/** A credential of a file without what every one has by default. Pure. */
export function briefPooled({ weight, priority, withdrawn, ...one }: FilePooled): object {
  return {
    ...one,
    ...(weight !== plainSettings.weight && { weight }),
    ...(priority !== plainSettings.priority && { priority }),
    ...(withdrawn && { withdrawn }),
  };
}
