import type { Address, ProviderFacts } from '#lib/core/facts/snapshot';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import {
  type CredentialHeaderName,
  type StoredFamilies,
  storedCredentialHeadersShape,
  storedCredentialShape,
  storedFamiliesShape,
} from '#lib/core/schemas/catalogue';
import { credentialContext, open, type SealingKey } from '#lib/platform/sealing';

export interface CatalogueSources {
  /** The value of an environment variable that the catalogue names; undefined or "": unset. */
  readonly envSecret: (name: string) => string | undefined;
  /** Opens sealed credentials; null: sealed ones count as absent. */
  readonly sealingKey: SealingKey | null;
  /** A row that cannot be read: its provider stays without a credential, its offer unpriced. */
  readonly report?: (error: unknown) => void;
}

/** A row of `provider`. */
export interface ProviderRow {
  id: string;
  name: string;
  families: unknown;
  credential: unknown;
  credential_headers: unknown;
  on_disconnect: string;
  prices_from: string | null;
}

/** A stored provider with its addresses read and its credential resolved. */
export function providerOf(row: ProviderRow, sources: CatalogueSources): ProviderFacts {
  const families = storedFamiliesShape.safeParse(row.families);
  if (!families.success) sources.report?.(families.error);
  return {
    id: row.id,
    name: row.name,
    families: families.success ? addressesOf(families.data, sources) : new Map(),
    ...credentialOf(row, sources),
    credentialHeaders: headersOf(row, sources),
    onDisconnect: row.on_disconnect === 'abort' ? 'abort' : 'drain',
    pricesFrom: row.prices_from,
  };
}

/** Null in rows of a version that knew none. */
function headersOf(row: ProviderRow, sources: CatalogueSources): ProviderFacts['credentialHeaders'] {
  const read = storedCredentialHeadersShape.safeParse(row.credential_headers ?? {});
  if (!read.success) sources.report?.(read.error);
  const headers = new Map<FamilyId, CredentialHeaderName>();
  for (const family of familyIds) {
    const name = read.data?.[family];
    if (name !== undefined) headers.set(family, name);
  }
  return headers;
}

function credentialOf(
  row: ProviderRow,
  sources: CatalogueSources,
): Pick<ProviderFacts, 'credential' | 'credentialEnv'> {
  const none = { credential: null, credentialEnv: null };
  if (row.credential === null) return none;
  try {
    const stored = storedCredentialShape.parse(row.credential);
    if ('env' in stored) {
      return { credential: readFrom(stored.env, sources) || null, credentialEnv: stored.env };
    }
    if (sources.sealingKey === null) return none;
    return { ...none, credential: open(stored.sealed, sources.sealingKey, credentialContext(row.id)) };
  } catch (error) {
    sources.report?.(error);
    return none;
  }
}

function addressesOf(stored: StoredFamilies, sources: CatalogueSources): Map<FamilyId, Address> {
  const addresses = new Map<FamilyId, Address>();
  for (const family of Object.keys(stored) as (keyof StoredFamilies)[]) {
    const value = stored[family];
    if (value === undefined) continue;
    addresses.set(
      family,
      typeof value === 'string'
        ? readAddress(value, 'the address in the catalogue')
        : addressFromEnv(value.env, readFrom(value.env, sources)),
    );
  }
  return addresses;
}

/** What an `env:` entry names; undefined too when it is given in a file that cannot be read. */
function readFrom(name: string, sources: CatalogueSources): string | undefined {
  try {
    return sources.envSecret(name);
  } catch (error) {
    sources.report?.(error);
    return undefined;
  }
}

function addressFromEnv(name: string, value: string | undefined): Address {
  if (!value?.trim()) return { state: 'missing', why: `the environment variable ${name} is not set` };
  return readAddress(value.trim(), `the environment variable ${name}`);
}

/** A versioned root (contract: operations/catalogue-address). `where` names its source; the text is not quoted. */
function readAddress(text: string, where: string): Address {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return { state: 'invalid', why: `${where} is not a URL` };
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { state: 'invalid', why: `${where} is not an http or https URL` };
  }
  if (url.username || url.password || url.search || url.hash) {
    return { state: 'invalid', why: `${where} carries credentials, a query or a fragment` };
  }
  return { state: 'ready', url };
}
