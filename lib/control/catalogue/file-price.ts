import type { PriceBand } from '#lib/control/catalogue/price-table';

type FileRates = Record<string, string | Record<string, string>>;

/** All prices of an offer as its catalogue file would write them (contract: operations/catalogue-price). Pure. */
export function filePriceOf(bands: readonly PriceBand[]): Record<string, unknown> {
  const names = [...new Set(bands.map(({ tier }) => tier))].filter((tier) => tier !== 'default');
  const serviceTiers = Object.fromEntries(names.map((name) => [name, tierOf(bands, name)]));
  return { ...tierOf(bands, 'default'), ...(names.length > 0 ? { serviceTiers } : {}) };
}

function tierOf(bands: readonly PriceBand[], name: string): Record<string, unknown> {
  const own = bands.filter(({ tier }) => tier === name);
  const tiers = own.flatMap(({ aboveInputTokens, rates }) =>
    aboveInputTokens === null ? [] : { aboveInputTokens, ...ratesOf(rates) },
  );
  const base = own.find(({ aboveInputTokens }) => aboveInputTokens === null);
  return { ...ratesOf(base?.rates ?? []), ...(tiers.length > 0 ? { tiers } : {}) };
}

function ratesOf(rates: PriceBand['rates']): FileRates {
  const read: FileRates = {};
  for (const { class: rateClass, variant, usd } of rates) {
    const maps = rates.some((rate) => rate.class === rateClass && rate.variant !== null);
    // Files have the price of an hour.
    const name = rateClass === 'audioMs' ? 'audioHour' : rateClass;
    if (!maps) read[name] = usd;
    else read[name] = { ...(read[name] as object | undefined), [variant ?? 'default']: usd };
  }
  return read;
}
