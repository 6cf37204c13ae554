import { mostCounted } from '#lib/control/operations/call/search';
import { showCount, showMoney } from '#lib/core/show-money';

/** The totals of a search, as `call.list` returns them. */
interface Found {
  readonly calls: number;
  /** Dollars; null if not all calls were counted. */
  readonly cost: string | null;
  readonly more: boolean;
}

/** "More than 10,000 calls.", "12 calls, $0.31." */
export function showFound({ calls, cost, more }: Found): string {
  const text = `${showCount(calls)} ${calls === 1 ? 'call' : 'calls'}`;
  if (!more) return cost === null ? `${text}.` : `${text}, ${showMoney(cost)}.`;
  return calls === mostCounted ? `More than ${text}.` : `${text} or more.`;
}
