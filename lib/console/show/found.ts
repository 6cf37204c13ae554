import { showMinute } from '#lib/console/show/time';
import { mostCounted, mostListed } from '#lib/control/operations/call/search';
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

/** What a ranking has looked at, as `call.list` says it. */
interface Ranked {
  readonly calls: number;
  /** ISO; null: there are no calls. */
  readonly from: string | null;
  readonly all: boolean;
}

/** "The first 1,000 of the newest 400,000 calls, since 12 Nov, 14:05. Choose a shorter range to rank all of it." */
export function showRanked({ calls, from, all }: Ranked, timeZone: string): string {
  if (all)
    return `Ranked ${showCount(calls)} ${calls === 1 ? 'call' : 'calls'}; at most ${showCount(mostListed)} are listed.`;
  const since = from === null ? '' : `, since ${showMinute(Date.parse(from), timeZone)}`;
  return `Ranked the newest ${showCount(calls)} calls${since}; at most ${showCount(mostListed)} are listed. Choose a shorter range to rank all of its calls.`;
}
