import { boundUsage, type UsageBounds } from '#lib/core/metering/anomaly';
import { paidOnce } from '#lib/core/metering/image-usage';
import { type NamedPrice, nestedPrices } from '#lib/core/metering/nested-prices';
import { feeOf, withFee } from '#lib/core/metering/own-fee';
import { atTierAsked, type Cost, price } from '#lib/core/metering/price';
import type { Price } from '#lib/core/metering/price-list';
import { totalUsage, type Usage, type UsageReport } from '#lib/core/metering/usage';

/** What the price of a report depends on besides the report itself. */
export interface PriceTerms {
  readonly model: UsageBounds;
  /** The longest audio that the call can have made or read, ms; absent: unknown. */
  readonly mostAudioMs?: number | undefined;
  readonly price: Price;
  /** Names by which the report may call further models. */
  readonly named: () => readonly NamedPrice[];
  /** `n` of the request. */
  readonly choices: number;
  /** The request declared tools that the provider runs. */
  readonly serverTools: boolean;
  /** The tier that the request asked for; null: none. */
  readonly serviceTier: string | null;
  /** A strict workspace pays at most `holdNano`. */
  readonly strict: boolean;
  readonly holdNano: bigint;
  /** It was answered by an own key, for this fee in hundredths of a percent; absent: at list price. */
  readonly feePoints?: number | undefined;
}

export interface PricedReport {
  /** As reported. */
  readonly usage: Usage;
  readonly lines: Cost['lines'];
  readonly costNano: bigint;
  /** What it costs without the cap of a strict workspace. */
  readonly uncappedNano: bigint;
  /** By which it was priced. */
  readonly serviceTier: string | null;
  readonly flags: readonly string[];
}

/**
 * The price of a usage report, for calls and jobs alike: implausible figures reduced (contract: money/usage-bounds),
 * nested models at their own prices (contract: money/nested-models), images once, the tier, and the cap of a strict
 * workspace (contract: money/strict). Pure.
 */
export function priceReport(report: UsageReport, terms: PriceTerms): PricedReport {
  const bounds = { ...terms.model, mostAudioMs: terms.mostAudioMs };
  const bounded = boundUsage(report, bounds, terms.choices, terms.serverTools);
  const nested = nestedPrices(report, report.nested.length === 0 ? [] : terms.named());
  const charged = atTierAsked(paidOnce(bounded.report, terms.price, nested), terms.serviceTier);
  const list = price(charged, terms.price, nested);
  const { flags } = list;
  const { lines, costNano } = terms.feePoints === undefined ? list : byFee(list, terms.feePoints);
  const capped = terms.strict && costNano > terms.holdNano;
  return {
    usage: totalUsage(report),
    lines,
    costNano: capped ? terms.holdNano : costNano,
    uncappedNano: costNano,
    serviceTier: charged.serviceTier,
    flags: together(report.flags, bounded.flags, flags, capped ? strictCapped : noFlags),
  };
}

/** The charge of a call by an own key (contract: own-keys/fee). */
function byFee({ lines, costNano }: Cost, points: number): Pick<Cost, 'lines' | 'costNano'> {
  return { lines: withFee(lines, costNano, points), costNano: feeOf(costNano, points) };
}

const noFlags: readonly string[] = [];
const strictCapped: readonly string[] = ['strict_capped'];

/** The union of lists of flags; most are empty. */
export function together(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.some((list) => list.length > 0) ? [...new Set(lists.flat())] : noFlags;
}
