import { z } from 'zod';
import { audioRate } from '#lib/core/metering/audio-rate';
import type { ContextTier, Price, Rates } from '#lib/core/metering/price-list';
import { tierOf } from '#lib/core/metering/service-tier';
import { tokenClasses } from '#lib/core/metering/usage';
import { parseUsd } from '#lib/core/money';

/** Classes counted in pieces: a catalogue gives USD per one; stored per million, as all rates are. */
const pieceClasses = ['request', 'webSearch'] as const;
/** Pieces whose price may depend on size, quality or resolution. */
const mappedClasses = ['image', 'videoSecond'] as const;

const PIECES_PER_RATE = 1_000_000n;

const usd = z
  .string({ error: 'write the price as a decimal string in dollars, like "0.25"' })
  .regex(/^\d{1,9}(\.\d{1,9})?$/, 'is not a price: write dollars as a decimal string, like "0.25"');

/** A millionth of a dollar at most, so that the price can be shown exactly again (contract: money/audio-rate). */
const hourly = z
  .string({ error: 'write the price as a decimal string in dollars, like "0.36"' })
  .regex(
    /^\d{1,9}(\.\d{1,6})?$/,
    'is not a price by the hour: write dollars with up to 6 decimals, like "0.36"',
  );

/** Tokens are priced in USD per million. */
const rateFields = {
  ...optionalEach(['characters'], usd, 'Dollars per million characters of spoken text.'),
  ...optionalEach(
    ['cacheStorage'],
    usd,
    'Dollars per million tokens that a context cache keeps for an hour.',
  ),
  ...optionalEach(['audioHour'], hourly, 'Dollars for an hour of audio.'),
  ...optionalEach(tokenClasses, usd, 'Dollars per million tokens.'),
  ...optionalEach(pieceClasses, usd, 'Dollars for one.'),
  ...optionalEach(
    mappedClasses,
    z.union([usd, z.record(z.string().min(1), usd)], {
      error: 'write a decimal string in dollars, or a map of them by size, quality or resolution',
    }),
    'Dollars for one, or a map of them by size, quality or resolution.',
  ),
};
type FileRates = z.infer<z.ZodObject<typeof rateFields>>;

const contextTiers = z
  .array(z.strictObject({ aboveInputTokens: z.int().positive(), ...rateFields }))
  .refine(
    (tiers) => tiers.every((tier, at) => at === 0 || tier.aboveInputTokens > aboveOf(tiers[at - 1])),
    'list the tiers in order of rising aboveInputTokens',
  )
  .optional();

/** A tier is looked up by the name that requests and answers give it; the standard service is the base. */
const tierName = z
  .string()
  .refine(
    (name) => tierOf(name) === name,
    'is not a service tier: write the name in lower case, and not that of the standard service',
  );

/** `price:` of an offer in the catalogue file (contract: operations/catalogue-price): decimal strings of USD. */
export const filePriceShape = z.strictObject({
  ...rateFields,
  tiers: contextTiers.meta({ description: 'Rates for the whole call above a number of input tokens.' }),
  serviceTiers: z
    .record(tierName, z.strictObject({ ...rateFields, tiers: contextTiers }))
    .optional()
    .meta({ description: 'Rates by service tier.' }),
});
export type FilePrice = z.infer<typeof filePriceShape>;

/** A catalogue's price as the meter reads it. Pure; the shape was checked by `filePriceShape`. */
export function readFilePrice(price: FilePrice): Price {
  const { tiers = [], serviceTiers = {}, ...base } = price;
  return {
    base: readRates(base),
    tiers: readContextTiers(tiers),
    serviceTiers: mapValues(serviceTiers, ({ tiers: own, ...rates }) => ({
      ...readRates(rates),
      ...(own === undefined ? {} : { tiers: readContextTiers(own) }),
    })),
  };
}

function readContextTiers(tiers: NonNullable<FilePrice['tiers']>): ContextTier[] {
  return tiers.map(({ aboveInputTokens, ...rates }) => ({ aboveInputTokens, rates: readRates(rates) }));
}

function readRates(rates: FileRates): Rates {
  const read: Record<string, bigint | Record<string, bigint>> = {};
  for (const name of [...tokenClasses, 'characters', 'cacheStorage'] as const) {
    const value = rates[name];
    if (value !== undefined) read[name] = parseUsd(value);
  }
  for (const name of [...pieceClasses, ...mappedClasses]) {
    const value = rates[name];
    const plain = typeof value === 'object' ? onlyDefault(value) : value;
    if (plain !== undefined) read[name] = parseUsd(plain) * PIECES_PER_RATE;
    else if (typeof value === 'object' && Object.keys(value).length > 0)
      read[name] = mapValues(value, (one) => parseUsd(one) * PIECES_PER_RATE);
  }
  if (rates.audioHour !== undefined) read.audioMs = audioRate(parseUsd(rates.audioHour));
  return read;
}

/** The rate of a map that has no other: it says the same as the rate itself, which is what an export writes. */
function onlyDefault(map: Readonly<Record<string, string>>): string | undefined {
  return Object.keys(map).length === 1 ? map.default : undefined;
}

/** Nano-dollars per million units, stored as a decimal string. */
const nano = z
  .string()
  .regex(/^\d{1,24}$/)
  .transform(BigInt);
const storedRatesShape = z.strictObject({
  ...optionalEach([...tokenClasses, 'characters', 'audioMs', 'cacheStorage'], nano),
  ...optionalEach(pieceClasses, nano),
  ...optionalEach(mappedClasses, z.union([nano, z.record(z.string(), nano)])),
});
const storedTiers = z.array(
  z.strictObject({ aboveInputTokens: z.int().positive(), rates: storedRatesShape }),
);
const storedPriceShape = z.strictObject({
  base: storedRatesShape,
  tiers: storedTiers,
  serviceTiers: z.record(z.string(), storedRatesShape.extend({ tiers: storedTiers.optional() })),
});
type StoredPrice = z.input<typeof storedPriceShape>;

/**
 * `price_version.price` back into a price: nano-dollars per million units.
 * @throws ZodError when the row contains anything but what `storePrice` wrote.
 */
export function parsePrice(json: unknown): Price {
  // An absent rate is absent in what was parsed too, which the types of optional fields do not say.
  return storedPriceShape.parse(json) as Price;
}

/**
 * Whether a price prices nothing: such an offer is listed as unpriced and never routed to
 * (contract: money/unpriced-offer).
 */
export function isUnpriced(price: Price): boolean {
  return Object.keys(price.base).length === 0;
}

/** A price as JSON for `price_version.price`: every rate a decimal string of nano-dollars per million. */
export function storePrice(price: Price): StoredPrice {
  return JSON.parse(JSON.stringify(price, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
}

function aboveOf(tier: { aboveInputTokens: number } | undefined): number {
  return tier?.aboveInputTokens ?? 0;
}

function optionalEach<Name extends string, Shape extends z.ZodType>(
  names: readonly Name[],
  shape: Shape,
  description?: string,
): Record<Name, z.ZodOptional<Shape>> {
  const optional = shape.optional();
  const told = description === undefined ? optional : optional.meta({ description });
  return Object.fromEntries(names.map((name) => [name, told])) as Record<Name, z.ZodOptional<Shape>>;
}

function mapValues<From, To>(
  source: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(source).map(([name, value]) => [name, map(value)]));
}
