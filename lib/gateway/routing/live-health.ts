import { type CredentialHealth, type OfferHealth, untried } from '#lib/gateway/routing/health';

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
 * longest is shown, and the same for each credential, with the newest error of all. Pure.
 */
export function joinHealth(
  answers: readonly (readonly (OfferHealth & { readonly offerId: string })[])[],
): LiveHealth {
  const offers = new Map<string, OfferHealth>();
  for (const { offerId, ...health } of answers.flat()) {
    const known = offers.get(offerId);
    const shown = !known || health.openUntilMs > known.openUntilMs ? health : known;
    const credentials = joinCredentials(known?.credentials ?? {}, health.credentials ?? {});
    offers.set(offerId, { ...shown, credentials });
  }
  return { processes: answers.length, of: (offerId) => offers.get(offerId) ?? untried };
}

function joinCredentials(
  some: OfferHealth['credentials'],
  more: OfferHealth['credentials'],
): OfferHealth['credentials'] {
  const joined: Record<string, CredentialHealth> = { ...some };
  for (const [name, one] of Object.entries(more)) {
    const known = joined[name];
    if (!known) {
      joined[name] = one;
      continue;
    }
    const shown = one.openUntilMs > known.openUntilMs ? one : known;
    const newer = (one.lastError?.atMs ?? 0) > (known.lastError?.atMs ?? 0) ? one : known;
    joined[name] = { ...shown, refused: one.refused || known.refused, lastError: newer.lastError };
  }
  return joined;
}
