import type { ContextTier, Price, ServiceRates } from '#lib/core/metering/price-list';

/**
 * Names of the standard service in the families and their dialects: a request or answer that names one has the base
 * price (contract: money/service-tiers).
 */
const standardNames: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
  // Regions of inference, which some answers give as a tier.
  'global',
  'not_available',
]);

/** The tier by which lines of a batch are priced; a single request cannot ask for it (contract: batches/prices). */
export const batchTier = 'batch';

/** Joins the tiers that several fields of one request or answer name ("fast+priority"). */
const JOINT = '+';

/**
 * The tier that fields of a request or answer name together: speed, region, service tier. Enums may carry
 * the prefix of their protobuf name, and any case.
 * @returns null when all of them name the standard service, or nothing.
 */
export function tierOf(...named: readonly (string | null)[]): string | null {
  let tiers: string[] | null = null;
  for (const name of named) {
    if (name === null || standardNames.has(name)) continue;
    const tier = name.toLowerCase().replace(/^service_tier_/, '');
    if (standardNames.has(tier) || tiers?.includes(tier)) continue;
    tiers = [...(tiers ?? []), tier];
  }
  return tiers === null ? null : tiers.join(JOINT);
}

/** The rates that a price has for a tier. */
export interface TierPrice {
  readonly rates: ServiceRates;
  /** Whether the price covers all that the tier names; else `rates` is that of a part of it. */
  readonly whole: boolean;
}

/**
 * The rates of a named tier. For joined tiers without a price of their own, those of the first part that has a price.
 * @returns null where the tier has no price.
 */
export function priceOfTier({ serviceTiers }: Price, tier: string): TierPrice | null {
  const exact = own(serviceTiers, tier);
  if (exact) return { rates: exact, whole: true };
  if (!tier.includes(JOINT)) return null;
  for (const part of tier.split(JOINT)) {
    const rates = own(serviceTiers, part);
    if (rates) return { rates, whole: false };
  }
  return null;
}

/** Whether an offer with this price may be asked for a tier; null asks for none. */
export function coversTier(price: Price, tier: string | null): boolean {
  return tier === null || priceOfTier(price, tier)?.whole === true;
}

function own(tiers: Price['serviceTiers'], name: string): ServiceRates | undefined {
  return Object.hasOwn(tiers, name) ? tiers[name] : undefined;
}

/** The context tier that applies to so many input tokens; undefined: none. */
export function contextTier(
  tiers: readonly ContextTier[] | undefined,
  inputTokens: number,
): ContextTier | undefined {
  return tiers?.findLast((tier) => inputTokens > tier.aboveInputTokens);
}
