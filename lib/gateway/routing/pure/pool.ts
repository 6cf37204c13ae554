import type { CredentialFacts } from '#lib/core/facts/credential';
import type { OfferFacts, ProviderFacts } from '#lib/core/facts/snapshot';
import type { OfferHealth } from '#lib/gateway/routing/health';
import { drawScore } from '#lib/gateway/routing/pure/draw';

/** What ordering a pool reads of a call. */
export interface PoolOrder {
  /** Makes the draw stable per call. */
  readonly callId: string;
  readonly health: OfferHealth;
  readonly nowMs: number;
  /** The name of the credential that holds the call's prompt cache; null: none known. */
  readonly holder: string | null;
}

/** The credentials that new calls of an offer may use (contract: routing/pool). */
export function poolOf({ provider: { credentials }, modelId }: OfferFacts): readonly CredentialFacts[] {
  if (credentials.every(({ models }) => models === null)) return credentials;
  return credentials.filter(({ models }) => models === null || models.has(modelId));
}

/**
 * A pool in the order of trying (contract: routing/credential-order): by priority, then drawn by weight; the one that
 * holds the prompt cache first; those that are set aside at the end, and those that were refused behind them. Pure.
 */
export function orderPool(
  offer: OfferFacts,
  { callId, health, nowMs, holder }: PoolOrder,
): readonly CredentialFacts[] {
  const pool = poolOf(offer);
  if (pool.length < 2) return pool;
  const provider = offer.provider.id;
  const scored = pool.map((credential) => {
    const { name, priority, weight } = credential;
    return {
      credential,
      standing: standingOf(health, name, nowMs),
      // Its provider has the prompt's prefix already, so that it costs less there.
      priority: name === holder ? Number.NEGATIVE_INFINITY : priority,
      // The provider is part of what is drawn, so that the draw of providers does not decide this one.
      score: drawScore(callId, `${provider}/${name}`, weight),
    };
  });
  scored.sort((a, b) => a.standing - b.standing || a.priority - b.priority || a.score - b.score);
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
 * withdrawn; if the provider has it no more, all others in their order.
 */
export function keepersOf(
  { credentials, withdrawn }: ProviderFacts,
  name: string,
): readonly CredentialFacts[] {
  const own = [...credentials, ...withdrawn].find((one) => one.name === name);
  if (own) return [own];
  return credentials.length > 0 ? credentials : withdrawn;
}
