import { isRetired } from '#lib/core/facts/retired';
import type { Catalogue } from '#lib/core/facts/snapshot';
import { type Health, type OfferState, offerState } from '#lib/gateway/routing/health';

/** The state of an offer in this process. */
export interface OfferStatus {
  readonly model: string;
  readonly provider: string;
  readonly state: OfferState;
  /** Seconds until it is no longer set aside; 0 when it is not. */
  readonly backInSeconds: number;
  /** Smoothed share of attempts that failed, 0 to 1. */
  readonly errorRate: number;
  /** Smoothed time to the first byte of streams, ms; null: not measured. */
  readonly streamFirstByteMs: number | null;
  /** The same of whole answers: nearly all of their generation. */
  readonly wholeMs: number | null;
  /** Smoothed output tokens a second. */
  readonly tokensPerSecond: number | null;
  /** Attempts under way. */
  readonly running: number;
}

/** The offers in service that this process has tried, in the catalogue's order. */
export function listOffers(catalogue: Catalogue, health: Health, nowMs: number): OfferStatus[] {
  const tried = new Map(health.list().map((one) => [one.offerId, one]));
  return [...catalogue.models.values()].flatMap((model) =>
    model.offers.flatMap((offer) => {
      const known = tried.get(offer.id);
      if (!known || isRetired(offer, nowMs)) return [];
      return {
        model: model.id,
        provider: offer.provider.id,
        state: offerState(known, nowMs),
        backInSeconds: Math.max(0, known.openUntilMs - nowMs) / 1000,
        errorRate: known.errorRate,
        streamFirstByteMs: known.streamFirstByteMs.value,
        wholeMs: known.wholeMs.value,
        tokensPerSecond: known.tokensPerSecond.value,
        running: known.running,
      };
    }),
  );
}

/** A credential that this process has used. */
export interface CredentialStatus {
  readonly provider: string;
  /** Its name. */
  readonly credential: string;
  /** Whether its provider refuses it at one of the offers (contract: routing/refused-credential). */
  readonly refused: boolean;
}

/** The credentials in use that this process has called offers by. */
export function listCredentials(catalogue: Catalogue, health: Health): CredentialStatus[] {
  const found = new Map<string, CredentialStatus>();
  for (const { offers } of catalogue.models.values()) {
    for (const { id, provider } of offers) {
      const { credentials } = health.of(id);
      for (const { name } of provider.credentials) {
        const known = credentials[name];
        if (!known) continue;
        const key = `${provider.id}/${name}`;
        const refused = known.refused || found.get(key)?.refused === true;
        found.set(key, { provider: provider.id, credential: name, refused });
      }
    }
  }
  return [...found.values()];
}
