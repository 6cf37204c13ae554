import { type OfferHealth, untried } from '#lib/gateway/routing/health';

/** What running gateway processes know of their offers. */
export interface LiveHealth {
  /** How many processes of this data directory answered. */
  readonly processes: number;
  of(offerId: string): OfferHealth;
}

/** No process was asked, or none answered: every offer counts as healthy. */
export const noHealth: LiveHealth = { processes: 0, of: () => untried };

/**
 * Joins what processes answered. Each measures for itself; of several, the one that has set an offer aside for
 * longest is shown. Pure.
 */
export function joinHealth(
  answers: readonly (readonly (OfferHealth & { readonly offerId: string })[])[],
): LiveHealth {
  const offers = new Map<string, OfferHealth>();
  for (const { offerId, ...health } of answers.flat()) {
    const known = offers.get(offerId);
    if (!known || health.openUntilMs > known.openUntilMs) offers.set(offerId, health);
  }
  return { processes: answers.length, of: (offerId) => offers.get(offerId) ?? untried };
}
