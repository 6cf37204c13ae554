import { showAgo, showMoment } from '#lib/console/show/time';
import type { KeyUse } from '#lib/control/operations/key/use';
import { parseUsd } from '#lib/core/money';
import { showCount, showMoney } from '#lib/core/show-money';

/** A limit or cap of a key and its current use, formatted. */
export interface UseRow {
  readonly name: string;
  readonly used: string;
  /** null: no limit. */
  readonly limit: string | null;
  /** Share of the limit, 0 to 1 and more; null without one. */
  readonly part: number | null;
  /** When it frees up. */
  readonly note: string;
}

interface Place {
  readonly timeZone: string;
  readonly nowMs: number;
}

/** The current use of each limit and cap of a key. */
export function limitRowsOf(use: KeyUse, { timeZone, nowMs }: Place): UseRow[] {
  const rate = (name: string, { used, limit }: KeyUse['requests'], note: string): UseRow => ({
    name,
    used: showCount(used),
    limit: limit === null ? null : showCount(limit),
    part: limit === null ? null : used / limit,
    note,
  });
  const heldNano = parseUsd(use.held);
  const cap = (name: string, { spent, cap: bound, freesAt }: KeyUse['day'], usual: string): UseRow => {
    const reached = freesAt === null ? null : `reached; frees up ${when(freesAt)}`;
    return {
      name,
      used: showMoney(spent),
      limit: bound === null ? null : showMoney(bound),
      part: bound === null ? null : Number(parseUsd(spent) + heldNano) / Number(parseUsd(bound)),
      note: reached ?? (bound !== null && heldNano > 0n ? `${usual}; ${showMoney(use.held)} held` : usual),
    };
  };
  const when = (iso: string) =>
    `${showMoment(Date.parse(iso), timeZone)}, ${showAgo(Date.parse(iso), nowMs)}`;
  return [
    rate('Requests a minute', use.requests, 'in the last 60 s'),
    rate('Tokens a minute', use.tokens, 'in the last 60 s'),
    rate('Concurrent calls', use.atOnce, 'running'),
    cap('Today', use.day, `resets ${when(use.dayEndsAt)}`),
    cap('Any 7 days', use.d7, 'the last 168 h'),
    cap('Any 30 days', use.d30, 'the last 720 h'),
    cap('Lifetime', use.quota, 'never resets; raise the quota'),
  ];
}
