import type { CostLine } from '#lib/core/metering/cost-line';
import type { Price, Rates } from '#lib/core/metering/price-list';
import { contextTier, coversTier, priceOfTier, tierOf } from '#lib/core/metering/service-tier';
import { type Usage, type UsageReport, usageParts } from '#lib/core/metering/usage';
import { divideUp } from '#lib/core/money';

/** What a call costs, and why. */
export interface Cost {
  /** The charge: the exact sum of the lines, rounded up once, nano-dollars. */
  readonly costNano: bigint;
  readonly lines: readonly CostLine[];
  /** `unpriced_<class>` for usage that no rate covers, `unpriced_tier` for an answer at a tier without a price. */
  readonly flags: readonly string[];
}

const unitsPerRate = 1_000_000n;
const noFlags: readonly string[] = [];

/** Writes to a cache: counted next to `input`, like `cachedInput`, and cost what `input` costs unless they have a price. */
const written = ['cacheWrite5m', 'cacheWrite1h'] as const;
/** Classes that follow the tier's price of input. */
const ofInput: readonly string[] = [
  'cachedInput',
  ...written,
  ...usageParts.input,
  ...usageParts.cachedInput,
];
const ofCachedInput: readonly string[] = usageParts.cachedInput;
const ofOutput: readonly string[] = usageParts.output;
/** Pieces: class of the price, figure of the usage. */
const pieces = [
  ['image', 'images'],
  ['videoSecond', 'videoSeconds'],
  ['webSearch', 'webSearches'],
  ['characters', 'characters'],
  ['audioMs', 'audioMs'],
] as const;

/**
 * Prices one call (contract: money/nano-dollars, money/missing-class, money/parts). Integers throughout; a figure
 * that is negative or not an integer counts as 0, a part never exceeds its parent.
 *
 * A call is always one request, so a price without a request fee is the rule and is not flagged.
 * @param nestedPrices prices of nested models by the name that the provider gives them; a nested model without one
 * costs what the call's own model costs and is flagged `unpriced_nested`.
 * @param unitKey which entry of a map of rates by size, quality or resolution applies ("1024x1024/high") where the
 * report does not say it by itself.
 */
export function price(
  report: UsageReport,
  ownPrice: Price,
  nestedPrices: ReadonlyMap<string, Price>,
  unitKey = 'default',
): Cost {
  const bill = new Bill(report.units ?? [unitKey]);
  const tier = tierOf(report.serviceTier);
  const ownRates = chosenRates(ownPrice, report.usage, tier);
  if (!coversTier(ownPrice, tier)) bill.flag('unpriced_tier');
  bill.usage(report.usage, ownRates, '');
  const requestFee = ownRates.of('request') ?? 0n;
  if (requestFee > 0n) bill.line('request', 1, requestFee);
  if (report.kept) bill.storage(tokenHours(report.kept), ownRates.of('cacheStorage'));
  for (const nested of report.nested) {
    const nestedPrice = nestedPrices.get(nested.upstreamModel);
    if (!nestedPrice) bill.flag('unpriced_nested');
    const list = nestedPrice ?? ownPrice;
    const rates = chosenRates(list, nested.usage, tier);
    if (nested.served && !coversTier(list, tier)) bill.flag('unpriced_tier');
    bill.usage(nested.usage, rates, `:${nested.upstreamModel}`);
  }
  return {
    costNano: divideUp(bill.sum, unitsPerRate),
    lines: bill.lines,
    flags: bill.flags,
  };
}

/** What a context cache is charged by: tokens × hours, rounded up once (contract: money/cache-storage). */
export function tokenHours({ tokens, seconds }: NonNullable<UsageReport['kept']>): number {
  return Math.ceil((countOf(tokens) * countOf(seconds)) / 3_600);
}

/** An answer that names no tier is charged by the one that was asked for; null: none was. */
export function atTierAsked(report: UsageReport, asked: string | null): UsageReport {
  return report.serviceTier !== null || asked === null ? report : { ...report, serviceTier: asked };
}

/** Whole, countable units: anything else counts as 0. */
function countOf(figure: number): number {
  return Number.isInteger(figure) && figure > 0 ? figure : 0;
}

type TokenClass = Exclude<keyof Rates, 'image' | 'videoSecond'>;

/**
 * The rates of the whole call: those of the service tier that the answer names, of its context tier, or the base.
 * If such a tier leaves out both a class and its parent, the base rates apply.
 */
class Chosen {
  readonly #rates: Rates;
  readonly #base: Rates;

  constructor(rates: Rates, base: Rates) {
    this.#rates = rates;
    this.#base = base;
  }

  of(name: TokenClass): bigint | undefined {
    const rate = this.#rates[name];
    if (rate !== undefined || this.#rates === this.#base) return rate;
    return parentIn(this.#rates, name) ? undefined : this.#base[name];
  }

  unit(name: 'image' | 'videoSecond'): Rates['image'] {
    return this.#rates[name] ?? this.#base[name];
  }
}

/** @param tier as `tierOf` names it; null: the standard service. */
function chosenRates(list: Price, usage: Usage, tier: string | null): Chosen {
  const service = tier === null ? null : priceOfTier(list, tier);
  const inputTokens = totalInput(usage);
  if (service) {
    const { rates } = service;
    return new Chosen(contextTier(rates.tiers, inputTokens)?.rates ?? rates, list.base);
  }
  return new Chosen(contextTier(list.tiers, inputTokens)?.rates ?? list.base, list.base);
}

/** Context tiers count all input of the call: uncached, cached and written to the cache. */
function totalInput(usage: Usage): number {
  return (
    countOf(usage.input) +
    countOf(usage.cachedInput) +
    countOf(usage.cacheWrite5m) +
    countOf(usage.cacheWrite1h)
  );
}

/** Whether a tier says what the parent costs: its parts then follow that, not the base rates. */
function parentIn(rates: Rates, name: TokenClass): boolean {
  if (rates.input !== undefined && ofInput.includes(name)) return true;
  if (rates.cachedInput !== undefined && ofCachedInput.includes(name)) return true;
  return rates.output !== undefined && ofOutput.includes(name);
}

/** Collects the lines of one call. */
class Bill {
  readonly lines: CostLine[] = [];
  flags = noFlags;
  /** Nano-dollars × 10⁶, so that no line is rounded. */
  sum = 0n;
  readonly #units: readonly string[];

  constructor(units: readonly string[]) {
    this.#units = units;
  }

  usage(usage: Usage, rates: Chosen, suffix: string): void {
    this.#tokens('input', usage, rates, suffix);
    this.#tokens('cachedInput', usage, rates, suffix);
    for (const name of written) {
      const quantity = countOf(usage[name]);
      if (quantity > 0) this.#priced(name + suffix, quantity, rates.of(name) ?? rates.of('input'));
    }
    this.#tokens('output', usage, rates, suffix);
    for (const [name, figure] of pieces) {
      const quantity = countOf(usage[figure]);
      if (quantity === 0) continue;
      const mapped = name === 'image' || name === 'videoSecond';
      const rate = mapped ? this.#unitRate(name, rates.unit(name)) : rates.of(name);
      this.#priced(name + suffix, quantity, rate);
    }
  }

  /** A parent's line and those of its parts: together they hold exactly the parent's figure. */
  #tokens(parent: keyof typeof usageParts, usage: Usage, rates: Chosen, suffix: string): void {
    const whole = countOf(usage[parent]);
    let rest = whole;
    for (const part of usageParts[parent]) {
      const count = countOf(usage[part]);
      if (count > 0 && rates.of(part) !== undefined) rest -= Math.min(count, rest);
    }
    this.#priced(
      parent + suffix,
      rest,
      rates.of(parent) ?? (parent === 'cachedInput' ? rates.of('input') : undefined),
    );
    for (let left = whole, at = 0; left > rest; at++) {
      const part = usageParts[parent][at];
      if (part === undefined) break;
      const rate = rates.of(part);
      if (rate === undefined) continue;
      const quantity = Math.min(countOf(usage[part]), left);
      left -= quantity;
      this.line(part + suffix, quantity, rate);
    }
  }

  /** A size or quality without an entry costs the cheapest one: what is unknown charges the lower figure. */
  #unitRate(name: string, rate: Rates['image']): bigint | undefined {
    if (rate === undefined || typeof rate === 'bigint') return rate;
    for (const key of [...this.#units, 'default']) {
      if (Object.hasOwn(rate, key)) return rate[key];
    }
    const known = Object.values(rate);
    if (known.length > 0) this.flag(`unpriced_${name}_size`);
    return known.reduce<bigint | undefined>(
      (least, one) => (least === undefined || one < least ? one : least),
      undefined,
    );
  }

  storage(quantity: number, rate: bigint | undefined): void {
    this.#priced('cacheStorage', quantity, rate);
  }

  #priced(name: string, quantity: number, rate: bigint | undefined): void {
    if (quantity > 0 && rate === undefined) this.flag(`unpriced_${name.split(':')[0]}`);
    this.line(name, quantity, rate ?? 0n);
  }

  flag(name: string): void {
    if (!this.flags.includes(name)) this.flags = [...this.flags, name];
  }

  line(name: string, quantity: number, unitPriceNano: bigint): void {
    if (quantity === 0) return;
    const share = BigInt(quantity) * unitPriceNano;
    this.sum += share;
    this.lines.push({ class: name, quantity, unitPriceNano });
  }
}
