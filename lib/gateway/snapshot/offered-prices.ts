import type { Catalogue } from '#lib/core/facts/snapshot';
import type { NamedPrice } from '#lib/core/metering/nested-prices';

/** The prices of all that a provider offers, by its own names. */
export function offeredPrices({ models }: Catalogue, providerId: string): NamedPrice[] {
  return [...models.values()].flatMap(({ offers }) =>
    offers.flatMap((one): NamedPrice[] =>
      one.provider.id === providerId && one.price ? [[one.upstreamModel, one.price.price]] : [],
    ),
  );
}
