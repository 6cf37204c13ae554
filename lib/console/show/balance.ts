import { parseUsd } from '#lib/core/money';
import { showMoney } from '#lib/core/show-money';

/** What a workspace may still spend, as the sidebar shows it. */
export interface ShownBalance {
  /** Ready to read: "$10.00". */
  readonly available: string;
  /** The exact decimal, in dollars. */
  readonly exact: string;
  /** No call is admitted at or below zero. */
  readonly empty: boolean;
  /** Below the threshold that the workspace has set. */
  readonly low: boolean;
}

/** @param funds `available` in dollars, a decimal string. */
export function showBalance({ available, low }: { available: string; low: boolean }): ShownBalance {
  return { available: showMoney(available), exact: available, empty: parseUsd(available) <= 0n, low };
}
