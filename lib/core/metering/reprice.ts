import type { CostLine } from '#lib/core/metering/cost-line';
import { paidOnce } from '#lib/core/metering/image-usage';
import { type Cost, price } from '#lib/core/metering/price';
import type { Price, Rates } from '#lib/core/metering/price-list';
import type { Usage } from '#lib/core/metering/usage';

/** A call as the log keeps it. */
export interface ChargedCall {
  readonly usage: Usage;
  readonly lines: readonly CostLine[];
  /** What it was charged, nano-dollars. */
  readonly costNano: bigint;
}

const noNested = new Map<string, Price>();

/**
 * What a call would have cost by another price, nano-dollars (contract: money/price-preview). The log keeps neither the
 * service tier of the answer nor the size of what was made: they are those by which the pricing function, given the
 * price that the call was charged by, gives the charge and its lines to the nano-dollar; the standard service first.
 * @returns null if none does (nested models, reduced or capped usage): such a call is not priced again. Pure.
 */
export function repriced(call: ChargedCall, charged: Price, other: Price): bigint | null {
  for (const serviceTier of [null, ...Object.keys(charged.serviceTiers)]) {
    for (const unit of unitsOf(charged)) {
      const cost = costOf(call.usage, charged, serviceTier, unit);
      if (!isSame(cost, call)) continue;
      return costOf(call.usage, other, serviceTier, unit).costNano;
    }
  }
  return null;
}

function costOf(usage: Usage, own: Price, serviceTier: string | null, unit: string): Cost {
  const report = { usage, serviceTier, nested: [], flags: [] };
  return price(paidOnce(report, own, noNested), own, noNested, unit);
}

function isSame({ costNano, lines }: Cost, call: ChargedCall): boolean {
  if (costNano !== call.costNano || lines.length !== call.lines.length) return false;
  return lines.every((line, at) => {
    const kept = call.lines[at];
    return (
      kept !== undefined &&
      line.class === kept.class &&
      line.quantity === kept.quantity &&
      line.unitPriceNano === kept.unitPriceNano
    );
  });
}

/** Sizes and qualities by which a price may decide. */
function unitsOf({ base, tiers, serviceTiers }: Price): ReadonlySet<string> {
  const rates: Rates[] = [base, ...tiers.map((tier) => tier.rates), ...Object.values(serviceTiers)];
  const maps = rates.flatMap(({ image, videoSecond }) => [image, videoSecond]);
  const names = maps.flatMap((map) => (typeof map === 'object' ? Object.keys(map) : []));
  return new Set(['default', ...names]);
}
