import type { CredentialFacts, OwnKey } from '#lib/core/facts/credential';
import { isOwnKeyName } from '#lib/core/facts/credential';
import type { ModelFacts, OfferFacts, ProviderFacts } from '#lib/core/facts/snapshot';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import type { OfferHealth } from '#lib/gateway/routing/health';
import { drawFor } from '#lib/gateway/routing/pure/draw';
import type { Target } from '#lib/gateway/routing/pure/target';

/** A workspace's own keys as they concern one model. */
export interface OwnChoice {
  readonly keys: readonly OwnKey[];
  /** The model is called by own keys only (contract: own-keys/use). */
  readonly only: boolean;
}

export const noOwnKeys: OwnChoice = { keys: [], only: false };

/** What a workspace's own keys mean for a model (contract: own-keys/use). Pure. */
export function ownChoice(keys: readonly OwnKey[] | undefined, model: ModelFacts): OwnChoice {
  if (keys === undefined || keys.length === 0) return noOwnKeys;
  const offers = (id: string) => model.offers.some(({ provider }) => provider.id === id);
  const serving = keys.filter(({ models, providerId }) => models?.has(model.id) ?? offers(providerId));
  return serving.length === 0
    ? noOwnKeys
    : { keys: serving, only: serving.some(({ use }) => use === 'only') };
}

/** What ordering a pool reads of a call. */
export interface PoolOrder {
  /** Makes the draw stable per call. */
  readonly callId: string;
  healthOf(id: string): OfferHealth;
  readonly nowMs: number;
  /** The name of the credential that holds the call's prompt cache; null: none known. */
  readonly holder: string | null;
}

/**
 * The credentials that new calls of an offer may use (contract: routing/pool), a workspace's own keys among them.
 * @param own as `ownChoice` says; absent: no workspace is asked for.
 */
export function poolOf(
  { provider: { id, credentials }, modelId }: OfferFacts,
  own: OwnChoice = noOwnKeys,
): readonly CredentialFacts[] {
  const serving = credentials.every(({ models }) => models === null)
    ? credentials
    : credentials.filter(({ models }) => models === null || models.has(modelId));
  if (own.keys.length === 0) return serving;
  const mine = own.keys.flatMap(({ providerId, credential }) =>
    providerId === id && credential ? [credential] : [],
  );
  return own.only ? mine : [...serving, ...mine];
}

/** Under which the health of a credential at an offer is known: own keys never touch that of the offer. */
export function healthIdOf({ id }: Pick<OfferFacts, 'id'>, { name, own }: CredentialFacts): string {
  return own ? `${id} ${name}` : id;
}

export function isOwnHealthId(id: string): boolean {
  return id.includes(' ');
}

/** Until when all credentials of a pool are set aside at an offer, ms since the epoch; 0: one is in service. */
export function openUntilOf(
  offer: OfferFacts,
  pool: readonly CredentialFacts[],
  healthOf: PoolOrder['healthOf'],
): number {
  if (pool.every(({ own }) => !own)) return healthOf(offer.id).openUntilMs;
  let least = Number.POSITIVE_INFINITY;
  for (const one of pool) least = Math.min(least, healthOf(healthIdOf(offer, one)).openUntilMs);
  return least;
}

/**
 * A pool in the order of trying (contract: routing/credential-order): own keys before or behind the operator's
 * credentials; by priority, then drawn by weight; the one that holds the prompt cache first; those that are set aside at
 * the end, and those that were refused behind them. Pure.
 */
export function orderPool(
  offer: OfferFacts,
  pool: readonly CredentialFacts[],
  { callId, healthOf, nowMs, holder }: PoolOrder,
): readonly CredentialFacts[] {
  if (pool.length < 2) return pool;
  // The provider is part of the seed, so that the draw of providers does not decide this one.
  const draw = drawFor(`${callId}/${offer.provider.id}`);
  const scored = pool.map((credential) => {
    const { name, priority, weight, own } = credential;
    return {
      credential,
      standing: standingOf(healthOf(healthIdOf(offer, credential)), name, nowMs),
      place: own === undefined ? 0 : own.use === 'last' ? 1 : -1,
      // Its provider has the prompt's prefix already, so that it costs less there.
      priority: name === holder ? Number.NEGATIVE_INFINITY : priority,
      score: draw(name, weight),
    };
  });
  scored.sort(
    (a, b) => a.standing - b.standing || a.place - b.place || a.priority - b.priority || a.score - b.score,
  );
  return scored.map(({ credential }) => credential);
}

/** 0: in service; 1: set aside; 2: set aside because the provider refused it. */
function standingOf({ credentials }: OfferHealth, name: string, nowMs: number): number {
  const known = credentials[name];
  if (known === undefined || known.openUntilMs <= nowMs) return 0;
  return known.refused ? 2 : 1;
}

/**
 * The credentials by which what one of them made can be reached (contract: jobs/pinning): that one, even if it is
 * withdrawn; if the provider has it no more, all others in their order. What an own key made is reached with it only
 * (contract: own-keys/stored).
 * @param keys of the workspace.
 */
export function keepersOf(
  { id, credentials, withdrawn }: ProviderFacts,
  name: string,
  keys: readonly OwnKey[] | undefined,
): readonly CredentialFacts[] {
  if (isOwnKeyName(name)) {
    const mine = keys?.find(({ providerId, credential }) => providerId === id && credential?.name === name);
    return mine?.credential ? [mine.credential] : [];
  }
  const own = [...credentials, ...withdrawn].find((one) => one.name === name);
  if (own) return [own];
  return credentials.length > 0 ? credentials : withdrawn;
}

/** Those of a pool that have an address in a family: own keys may have their own. */
export function reachable(
  pool: readonly CredentialFacts[],
  provider: ProviderFacts,
  family: FamilyId,
): readonly CredentialFacts[] {
  const isReady = provider.families.get(family)?.state === 'ready';
  if (isReady && pool.every(({ own }) => !own?.address)) return pool;
  return pool.filter((credential) => addressOf(provider, family, credential) !== null);
}

/** Where a provider is called by a credential (contract: own-keys/address); null: nowhere. */
export function addressOf(
  provider: ProviderFacts,
  family: FamilyId,
  { own }: Pick<CredentialFacts, 'own'>,
): URL | null {
  const given = provider.families.get(family);
  if (!own?.address) return given?.state === 'ready' ? given.url : null;
  return given && hrefOf(provider, family) === mainHref(provider) ? own.address : null;
}

/** The main address is that of the first of its families. */
function mainHref(provider: ProviderFacts): string | null {
  const first = familyIds.find((family) => provider.families.has(family));
  return first ? hrefOf(provider, first) : null;
}

function hrefOf({ families }: ProviderFacts, family: FamilyId): string | null {
  const address = families.get(family);
  return address?.state === 'ready' ? address.url.href : null;
}

/** A target that is called by one of its credentials, where that one is sent. */
export function aimAt(target: Target, credential: CredentialFacts, pool = target.pool): Target {
  if (credential === target.credential && pool === target.pool) return target;
  const address = addressOf(target.offer.provider, target.family, credential) ?? target.address;
  return { ...target, credential, pool, address };
}
