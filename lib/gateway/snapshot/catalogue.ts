import { createHash } from 'node:crypto';
import type { Pool, QueryResultRow } from 'pg';
import { messageOf } from '#lib/core/errors';
import { type Abilities, lackedBy } from '#lib/core/facts/abilities';
import { readCloudKey } from '#lib/core/facts/cloud-key';
import { type CredentialFacts, type CredentialLimits, noCredential } from '#lib/core/facts/credential';
import { defaultCredential } from '#lib/core/facts/pool';
import { endOfDay } from '#lib/core/facts/retired';
import type {
  Address,
  Catalogue,
  ModelFacts,
  OfferFacts,
  PriceVersion,
  ProviderFacts,
} from '#lib/core/facts/snapshot';
import { storeNames } from '#lib/core/facts/stores';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import { unservedBy } from '#lib/core/families/served';
import type { NamedPrice } from '#lib/core/metering/nested-prices';
import {
  type Auth,
  type CredentialHeaderName,
  type StoredFamilies,
  storedAbilitiesShape,
  storedAuthShape,
  storedCredentialHeadersShape,
  storedCredentialShape,
  storedFamiliesShape,
  storedVariantsShape,
} from '#lib/core/schemas/catalogue';
import { isUnpriced, parsePrice } from '#lib/core/schemas/price';
import { credentialContext, open, type SealingKey } from '#lib/platform/sealing';

const providerRows =
  'SELECT id, name, families, credential, credential_headers, auth, variants, on_disconnect, prices_from, stores FROM provider ORDER BY id';
/** The default one has no row if nothing but its secret, which its provider has, was ever set. */
const credentialRows = `
  SELECT provider_id, name, secret, weight, priority, coalesce(models, '{}') AS models, rpm, tpm, withdrawn_at
  FROM credential ORDER BY provider_id, created_at, name`;
const modelRows = `
  SELECT id, name, coalesce(aliases, '{}') AS aliases, context_tokens AS "contextTokens",
    max_output_tokens AS "maxOutputTokens", coalesce(input, '{}') AS input, coalesce(output, '{}') AS output,
    reasoning, released, created_at AS "createdAt"
  FROM model ORDER BY created_at, id`;
/** Each offer in force with the newest price that is effective now. */
const offerRows = `
  SELECT o.id, o.model_id, o.provider_id, o.upstream_model, o.families, o.output_budget_field,
    o.stream_usage, o.stream_end, o.deny_betas, o.abilities, m.abilities AS model_abilities, o.operations, coalesce(o.retires, m.retires) AS retires, v.id AS price_id, v.price, v.effective_at
  FROM offer o JOIN model m ON m.id = o.model_id LEFT JOIN LATERAL (
    SELECT id, price, effective_at FROM price_version WHERE offer_id = o.id AND effective_at <= now()
    ORDER BY effective_at DESC, created_at DESC, id DESC LIMIT 1
  ) v ON true
  WHERE o.withdrawn_at IS NULL ORDER BY o.model_id, o.position, o.provider_id`;

/**
 * The catalogue in force: addresses and credentials resolved, sealed values opened, prices effective
 * now, withdrawn offers left out. @throws when the database cannot answer.
 */
export async function loadCatalogue(pool: Pool, sources: CatalogueSources): Promise<Catalogue> {
  const client = await pool.connect();
  try {
    // One view for four statements: an apply that commits between them is seen whole or not at all.
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const query = async <Row extends QueryResultRow>(text: string) => (await client.query<Row>(text)).rows;
    const catalogue = await readCatalogueWithin(query, sources);
    await client.query('COMMIT');
    client.release();
    return catalogue;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/**
 * The same by the statements of a transaction: a second connection would wait for it where the database has one session
 * (the embedded one). @throws when the database cannot answer.
 */
export async function readCatalogueWithin(
  query: <Row extends QueryResultRow>(text: string) => Promise<Row[]>,
  sources: CatalogueSources,
): Promise<Catalogue> {
  const found = {
    providers: await query<ProviderRow>(providerRows),
    credentials: await query<CredentialRow>(credentialRows),
    models: await query<ModelRow>(modelRows),
    offers: await query<OfferRow>(offerRows),
  };
  return assembleCatalogue(found, sources);
}

type ModelRow = Omit<ModelFacts, 'createdAtMs' | 'offers'> & { readonly createdAt: Date };

interface OfferRow {
  id: string;
  model_id: string;
  provider_id: string;
  upstream_model: string;
  families: FamilyId[] | null;
  output_budget_field: string | null;
  stream_usage: string | null;
  stream_end: string | null;
  deny_betas: string[] | null;
  abilities: unknown;
  model_abilities: unknown;
  operations: string[] | null;
  retires: string | null;
  price_id: string | null;
  price: unknown;
  effective_at: Date | null;
}

function assembleCatalogue(
  found: { providers: ProviderRow[]; credentials: CredentialRow[]; models: ModelRow[]; offers: OfferRow[] },
  sources: CatalogueSources,
): Catalogue {
  const pools = new Map<string, CredentialRow[]>();
  for (const row of found.credentials) {
    pools.set(row.provider_id, [...(pools.get(row.provider_id) ?? []), row]);
  }
  const providers = new Map(
    found.providers.map((row) => [row.id, providerOf(row, pools.get(row.id) ?? [], sources)]),
  );
  const offers = new Map<string, OfferFacts[]>();
  for (const row of found.offers) {
    const provider = providers.get(row.provider_id);
    if (provider === undefined) continue;
    const listed = offers.get(row.model_id) ?? [];
    listed.push(offerOf(row, provider, sources));
    offers.set(row.model_id, listed);
  }
  const models = new Map(
    found.models.map(({ createdAt, ...row }) => [
      row.id,
      { ...row, createdAtMs: createdAt.getTime(), offers: offers.get(row.id) ?? [] },
    ]),
  );
  return { models, providers };
}

function offerOf(row: OfferRow, provider: ProviderFacts, sources: CatalogueSources): OfferFacts {
  const abilities = {
    ...abilitiesIn(row.model_abilities, sources),
    ...abilitiesIn(row.abilities, sources),
  };
  const budget = row.output_budget_field;
  return {
    id: row.id,
    modelId: row.model_id,
    provider,
    upstreamModel: row.upstream_model,
    families: new Set(row.families ?? []),
    price: priceOf(row, sources),
    outputBudgetField: budget === 'max_tokens' || budget === 'max_completion_tokens' ? budget : null,
    streamUsage: row.stream_usage === 'never' ? 'never' : null,
    streamEnd: row.stream_end === 'none' ? 'none' : null,
    denyBetas: row.deny_betas ?? [],
    abilities,
    lacks: lackedBy(abilities),
    unserved: unservedBy(row.operations ?? [], row.families ?? []),
    servedUntilMs: row.retires === null ? null : endOfDay(row.retires),
  };
}

/** A row that cannot be read says nothing. */
function abilitiesIn(stored: unknown, sources: CatalogueSources): Abilities {
  const read = storedAbilitiesShape.safeParse(stored ?? {});
  if (!read.success) sources.report?.(read.error);
  return read.data ?? {};
}

function priceOf(row: OfferRow, sources: CatalogueSources): PriceVersion | null {
  const { price_id: id, effective_at: effectiveAt } = row;
  if (id === null || effectiveAt === null) return null;
  try {
    const price = parsePrice(row.price);
    return isUnpriced(price) ? null : { id, price, effectiveAtMs: effectiveAt.getTime() };
  } catch (error) {
    sources.report?.(error);
    return null;
  }
}

export interface CatalogueSources {
  /** The value of an environment variable that the catalogue names; undefined or "": unset. */
  readonly envSecret: (name: string) => string | undefined;
  /** Opens sealed credentials; null: sealed ones count as absent. */
  readonly sealingKey: SealingKey | null;
  /** A row that cannot be read: its provider stays without a credential, its offer unpriced. */
  readonly report?: (error: unknown) => void;
}

/** A row of `provider`. */
interface ProviderRow {
  id: string;
  name: string;
  families: unknown;
  credential: unknown;
  credential_headers: unknown;
  auth: unknown;
  variants: unknown;
  on_disconnect: string;
  prices_from: string | null;
  /** Null in rows of a version that knew none. */
  stores: string[] | null;
}

/** A row of `credential`. */
interface CredentialRow {
  provider_id: string;
  name: string;
  secret: unknown;
  weight: number;
  priority: number;
  models: string[];
  rpm: number | null;
  tpm: number | null;
  withdrawn_at: Date | null;
}

/** A stored provider with its addresses read and its credentials resolved. */
function providerOf(
  row: ProviderRow,
  pool: readonly CredentialRow[],
  sources: CatalogueSources,
): ProviderFacts {
  const families = storedFamiliesShape.safeParse(row.families);
  if (!families.success) sources.report?.(families.error);
  const auth = storedAuthShape.nullable().safeParse(row.auth ?? null);
  if (!auth.success) sources.report?.(auth.error);
  const variants = storedVariantsShape.safeParse(row.variants ?? {});
  if (!variants.success) sources.report?.(variants.error);
  return {
    id: row.id,
    name: row.name,
    families: families.success ? addressesOf(families.data, sources) : new Map(),
    ...credentialsOf(row, pool, auth.data, sources),
    ...(auth.data && { auth: auth.data }),
    ...(variants.data && { variants: variants.data }),
    credentialHeaders: headersOf(row, sources),
    onDisconnect: row.on_disconnect === 'abort' ? 'abort' : 'drain',
    pricesFrom: row.prices_from,
    stores: new Set(storeNames.filter((name) => row.stores?.includes(name))),
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

/** @param auth undefined: it cannot be read, so that nothing is sent: a key file must not go out as a key. */
function credentialsOf(
  provider: ProviderRow,
  pool: readonly CredentialRow[],
  auth: Auth | null | undefined,
  sources: CatalogueSources,
): Pick<ProviderFacts, 'credentials' | 'withdrawn' | 'credentialEnv' | 'credentialFaults'> {
  const { id, credential: stored } = provider;
  const own = pool.find(({ name }) => name === defaultCredential) ?? { ...plainCredential, provider_id: id };
  const others = pool.filter(({ name }) => name !== defaultCredential);
  const credentials: CredentialFacts[] = [];
  const withdrawn: CredentialFacts[] = [];
  const faults = new Map<string, string>();
  let credentialEnv: string | null = null;
  for (const row of [{ ...own, secret: stored }, ...others]) {
    const { secret, env } = secretOf(row, sources);
    if (row.name === defaultCredential) credentialEnv = env;
    const made = secret === null || auth === undefined ? null : usable(secret, auth, sources);
    const { name, weight, priority } = row;
    if (typeof made === 'string') faults.set(name, made);
    if (made === null || typeof made === 'string') continue;
    const models = row.models.length > 0 ? new Set(row.models) : null;
    const limits = limitsOf(row);
    const credential = { name, ...made, weight, priority, models, ...(limits && { limits }) };
    (row.withdrawn_at === null ? credentials : withdrawn).push(credential);
  }
  return { credentials, withdrawn, credentialEnv, ...(faults.size > 0 && { credentialFaults: faults }) };
}

function limitsOf({ provider_id, name, rpm, tpm }: CredentialRow): CredentialLimits | null {
  if (rpm === null && tpm === null) return null;
  return {
    id: limitSubject(`${provider_id}/${name}`),
    providerId: limitSubject(provider_id),
    stored: { rpm, tpm, concurrency: null },
  };
}

/** The same UUID in every process, as stores of limits name what they count. */
function limitSubject(name: string): string {
  const hex = createHash('sha256').update(`credential limits of ${name}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A secret with what its cloud makes of it; or why it is not what its provider takes, without anything of it. */
function usable(
  secret: string,
  auth: Auth | null,
  sources: CatalogueSources,
): Pick<CredentialFacts, 'secret' | 'cloud'> | string {
  if (auth === null) return { secret };
  try {
    const cloud = readCloudKey(auth, secret.trim());
    return cloud === null ? { secret } : { secret, cloud };
  } catch (error) {
    sources.report?.(error);
    return messageOf(error);
  }
}

/** The settings of the default one if it has no row. */
const plainCredential = {
  name: defaultCredential,
  weight: 1,
  priority: 1,
  models: [],
  rpm: null,
  tpm: null,
  withdrawn_at: null,
};

/** A stored secret: null if it cannot be read here; and the variable that would hold it. */
function secretOf(
  row: Pick<CredentialRow, 'provider_id' | 'name' | 'secret'>,
  sources: CatalogueSources,
): { readonly secret: string | null; readonly env: string | null } {
  const none = { secret: null, env: null };
  if (row.secret === null) return none;
  try {
    const stored = storedCredentialShape.parse(row.secret);
    if ('env' in stored) return { secret: readFrom(stored.env, sources) || null, env: stored.env };
    if ('none' in stored) return { ...none, secret: noCredential };
    if (sources.sealingKey === null) return none;
    const context = credentialContext(row.provider_id, row.name);
    return { ...none, secret: open(stored.sealed, sources.sealingKey, context) };
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

/** The prices of all that a provider offers, by its own names. */
export function offeredPrices({ models }: Catalogue, providerId: string): NamedPrice[] {
  return [...models.values()].flatMap(({ offers }) =>
    offers.flatMap((one): NamedPrice[] =>
      one.provider.id === providerId && one.price ? [[one.upstreamModel, one.price.price]] : [],
    ),
  );
}
