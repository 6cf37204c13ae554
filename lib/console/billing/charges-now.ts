import type { ShownAutoTopUp } from '#lib/control/operations/auto-top-up/find';
import { formatUsd, parseUsd, plainUsd } from '#lib/core/money';
import { showMoney } from '#lib/core/show-money';

/** Limits as typed into the form, valid or not. */
export interface TypedLimits {
  readonly enabled: boolean;
  readonly threshold: string;
  readonly amount: string;
  readonly monthlyCap: string;
}

/**
 * What saving these limits would charge at once, as "Charges $25 now."; null: nothing, or they cannot be
 * saved (contract: money/auto-top-up). Pure.
 * @param resumed whether saving also resumes automatic top-ups; paused ones charge nothing.
 */
export function chargesNow(
  { balance, card, ordered, paused, thisMonth }: ShownAutoTopUp,
  typed: TypedLimits,
  resumed = false,
): string | null {
  if (!typed.enabled || card === null || ordered || (paused !== null && !resumed)) return null;
  const [threshold, amount, cap] = [typed.threshold, typed.amount, typed.monthlyCap].map(nanoOf);
  if (threshold == null || amount == null || cap == null || amount <= 0n) return null;
  if (parseUsd(balance) > threshold || parseUsd(thisMonth) + amount > cap) return null;
  return `Charges ${showMoney(formatUsd(amount)).replace(/\.00$/, '')} now.`;
}

function nanoOf(text: string): bigint | null {
  try {
    return parseUsd(plainUsd(text));
  } catch {
    return null;
  }
}
