import type { CostLine } from '#lib/core/metering/cost-line';
import { divideUp } from '#lib/core/money';

/**
 * Class of the last line of a charge by an own key: its quantity is the list price in nano-dollars, which the lines
 * before it add up to, and it alone is charged (contract: own-keys/fee).
 */
export const ownFeeClass = 'ownKeyFee';

/** Hundredths of a percent in the whole. */
const whole = 10_000n;

/** The fee of a list price in nano-dollars, rounded up. @param points hundredths of a percent. */
export function feeOf(listNano: bigint, points: number): bigint {
  return divideUp(listNano * BigInt(points), whole);
}

/** The lines of a list price with the line of its fee. */
export function withFee(lines: readonly CostLine[], listNano: bigint, points: number): readonly CostLine[] {
  const unitPriceNano = (BigInt(points) * 1_000_000n) / whole;
  return [...lines, { class: ownFeeClass, quantity: Number(listNano), unitPriceNano }];
}

/** The fee by which lines were charged, in hundredths of a percent; null: they were charged at list price. */
export function feePointsIn(lines: readonly CostLine[]): number | null {
  const line = feeLineOf(lines);
  return line ? Number((line.unitPriceNano * whole) / 1_000_000n) : null;
}

/** What a charge by an own key would have cost at list price, nano-dollars; 0n for any other charge. */
export function ownListNano(lines: readonly CostLine[]): bigint {
  return BigInt(feeLineOf(lines)?.quantity ?? 0);
}

function feeLineOf(lines: readonly CostLine[]): CostLine | undefined {
  const last = lines.at(-1);
  return last?.class === ownFeeClass ? last : undefined;
}
