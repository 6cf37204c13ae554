import type { Price } from '#lib/core/metering/price-list';
import type { UsageReport } from '#lib/core/metering/usage';

/** A price and a name by which an answer may call the model that it is of. */
export type NamedPrice = readonly [name: string, price: Price];

const none: ReadonlyMap<string, Price> = new Map();

/**
 * The prices of a report's nested models, by the names that it gives them (contract: money/nested-models): the
 * provider's own, its dated form, or the slug where the answer does not repeat a name.
 */
export function nestedPrices(
  { nested }: Pick<UsageReport, 'nested'>,
  known: readonly NamedPrice[],
): ReadonlyMap<string, Price> {
  if (nested.length === 0) return none;
  const prices = new Map<string, Price>();
  for (const { upstreamModel: name } of nested) {
    const found = known.find(([one]) => one === name) ?? known.find(([one]) => isDated(name, one));
    if (found) prices.set(name, found[1]);
  }
  return prices;
}

/** Providers answer an alias by its dated name: "model-20250929" for "model". */
function isDated(name: string, alias: string): boolean {
  return name.startsWith(`${alias}-`) && /^\d+$/.test(name.slice(alias.length + 1));
}
