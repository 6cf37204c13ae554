import { parseUsd } from '#lib/core/money';
import { showMoney } from '#lib/core/show-money';

/** What a workspace may still spend, as the sidebar shows it. */
export interface ShownBalance {
  /** Formatted: "$10.00". */
  readonly available: string;
  /** The exact decimal, in dollars. */
  readonly exact: string;
  /** Whether it is zero or less, so that no call is admitted. */
  readonly empty: boolean;
  /** Whether it is below the workspace's threshold. */
  readonly low: boolean;
}

/** @param funds `available` in dollars, a decimal string. */
export function showBalance({ available, low }: { available: string; low: boolean }): ShownBalance {
  return { available: showMoney(available), exact: available, empty: parseUsd(available) <= 0n, low };
}
