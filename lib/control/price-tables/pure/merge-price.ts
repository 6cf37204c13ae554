import { isDeepStrictEqual } from 'node:util';
import type { ContextTier, Price, Rates } from '#lib/core/metering/price-list';
import { usageParts } from '#lib/core/metering/usage';

/** The price in force with what a table says in place of it. */
export interface MergedPrice {
  readonly price: Price;
  /** Whether calls would cost something else. */
  readonly differs: boolean;
  /** Parts of the price in force that the table does not have, and that stay. */
  readonly kept: readonly string[];
  /** Parts of the table's price that are not taken over, because the price in force counts by something else. */
  readonly left: readonly string[];
}

/** Pieces and units that say by what a call is priced; a table adds none of them to a price that has other ones. */
const units = ['image', 'videoSecond', 'request', 'characters', 'audioMs', 'cacheStorage'] as const;
const children: Readonly<Record<string, keyof typeof usageParts>> = {
  cachedInput: 'input',
  cacheWrite5m: 'input',
  cacheWrite1h: 'input',
  ...Object.fromEntries(usageParts.input.map((name) => [name, 'input' as const])),
  ...Object.fromEntries(usageParts.cachedInput.map((name) => [name, 'cachedInput' as const])),
  ...Object.fromEntries(usageParts.output.map((name) => [name, 'output' as const])),
};

/**
 * Puts the rates of a table in the place of those in force. What a table leaves out stays: tables have fewer classes,
 * tiers and sizes than a price may have. Pure.
 */
export function mergePrice(current: Price, listed: Price): MergedPrice {
  const kept: string[] = [];
  const left: string[] = [];
  const join = (own: Rates, given: Rates, at: string) => mergeRates(own, given, { at, kept, left });
  const base = join(current.base, listed.base, '');
  const tiers = mergeTiers(current.tiers, listed.tiers, '', { join, kept });
  const names = [...new Set([...Object.keys(current.serviceTiers), ...Object.keys(listed.serviceTiers)])];
  const serviceTiers = Object.fromEntries(
    names.flatMap((name) => {
      const { tiers: ownTiers = [], ...own } = current.serviceTiers[name] ?? {};
      const given = listed.serviceTiers[name];
      if (given === undefined) {
        kept.push(name);
        return [[name, current.serviceTiers[name] ?? {}] as const];
      }
      const { tiers: givenTiers = [], ...rates } = given;
      const bands = mergeTiers(ownTiers, givenTiers, `${name} `, { join, kept });
      return [
        [name, { ...join(own, rates, `${name} `), ...(bands.length > 0 && { tiers: bands }) }] as const,
      ];
    }),
  );
  const price = { base, tiers, serviceTiers };
  return { price, differs: !isDeepStrictEqual(effective(current), effective(price)), kept, left };
}

interface Notes {
  readonly at: string;
  readonly kept: string[];
  readonly left: string[];
}

function mergeRates(own: Rates, given: Rates, { at, kept, left }: Notes): Rates {
  const merged: Record<string, Rates[keyof Rates]> = { ...own };
  const priced = Object.keys(own).length > 0;
  for (const [name, rate] of Object.entries(given) as [keyof Rates, Rates[keyof Rates]][]) {
    const before = own[name];
    const foreign = priced && before === undefined && units.some((unit) => unit === name);
    if (foreign || (typeof before === 'object' && typeof rate !== 'object')) left.push(`${at}${name}`);
    else if (before !== undefined || !isParents(name, rate, { ...own, ...given })) merged[name] = rate;
  }
  for (const name of Object.keys(own)) if (!(name in given)) kept.push(`${at}${name}`);
  return merged as Rates;
}

/** A part that costs what its parent costs need not be said. */
function isParents(name: string, rate: Rates[keyof Rates], rates: Rates): boolean {
  const parent = children[name];
  return parent !== undefined && rates[parent] === rate;
}

function mergeTiers(
  own: readonly ContextTier[],
  given: readonly ContextTier[],
  at: string,
  { join, kept }: { join(own: Rates, given: Rates, at: string): Rates; kept: string[] },
): ContextTier[] {
  if (given.length === 0) {
    for (const { aboveInputTokens } of own) kept.push(`${at}above ${aboveInputTokens} tokens`);
    return [...own];
  }
  return given.map(({ aboveInputTokens, rates }) => {
    const same = own.find((tier) => tier.aboveInputTokens === aboveInputTokens);
    return {
      aboveInputTokens,
      rates: join(same?.rates ?? {}, rates, `${at}above ${aboveInputTokens} tokens `),
    };
  });
}

/** With every class that a missing one costs (contract: money/missing-class), so that only real differences remain. */
function effective({ base, tiers, serviceTiers }: Price): unknown {
  const whole = (rates: Rates): Record<string, unknown> => {
    const filled: Record<string, unknown> = { ...rates };
    for (const [name, parent] of Object.entries(children))
      if (filled[name] === undefined && rates[parent] !== undefined) filled[name] = rates[parent];
    return filled;
  };
  const bands = (list: readonly ContextTier[] = []) =>
    list.map(({ aboveInputTokens, rates }) => [aboveInputTokens, whole(rates)]);
  return {
    base: whole(base),
    tiers: bands(tiers),
    serviceTiers: Object.fromEntries(
      Object.entries(serviceTiers).map(([name, { tiers: own, ...rates }]) => [
        name,
        { rates: whole(rates), tiers: bands(own) },
      ]),
    ),
  };
}
