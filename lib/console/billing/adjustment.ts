import { formatUsd, parseUsd, plainUsd } from '#lib/core/money';
import { exactMoney } from '#lib/core/show-money';

/**
 * What an operator confirms before an adjustment of a balance is posted: "Subtract $20.00? The balance changes from
 * $44.49 to $24.49."; null: the amount cannot be read, and the operation says why. Pure.
 * @param balance exact, in dollars.
 */
export function adjustmentQuestion(balance: string, amount: string): string | null {
  try {
    const nano = parseUsd(plainUsd(amount));
    if (nano === 0n) return null;
    const much = exactMoney(formatUsd(nano < 0n ? -nano : nano));
    const then = exactMoney(formatUsd(parseUsd(balance) + nano));
    return `${nano < 0n ? 'Subtract' : 'Add'} ${much}? The balance changes from ${exactMoney(balance)} to ${then}.`;
  } catch {
    return null;
  }
}
