import type { NamedPrice } from '#lib/metering/nested-prices';
import type { Catalogue } from '#lib/snapshot/snapshot';

/** The prices of all that a provider offers, by its own names. */
export function offeredPrices({ models }: Catalogue, providerId: string): NamedPrice[] {
  return [...models.values()].flatMap(({ offers }) =>
    offers.flatMap((one): NamedPrice[] =>
      one.provider.id === providerId && one.price ? [[one.upstreamModel, one.price.price]] : [],
    ),
  );
}
