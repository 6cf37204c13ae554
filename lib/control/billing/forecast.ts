import type { Queries } from '#lib/control/billing/month';
import { postedOfCalls } from '#lib/gateway/ledger/posted';
import { quarterMs } from '#lib/gateway/settlement/pure/quarter';

const dayMs = 86_400_000;
const paceDays = 7;

/** What a month may cost by its end (contract: money/forecast). */
export interface Forecast {
  readonly nano: bigint;
  /** The pace is the average of so many days, 1 to 7. */
  readonly days: number;
}

/** The spend that a forecast is made of; nano-dollars, ms since the epoch. */
export interface Pace {
  /** Of the month so far. */
  readonly spentNano: bigint;
  /** Since `sinceMs`, and of all months. */
  readonly recentNano: bigint;
  readonly sinceMs: number;
  readonly nowMs: number;
  /** When the month ends. */
  readonly endsMs: number;
}

/**
 * What was spent, and the average of the last days for the time that is left: real time, so that days on which clocks
 * change have 23 or 25 hours. Pure. @returns null: the pace is that of less than a day.
 */
export function forecastOf({ spentNano, recentNano, sinceMs, nowMs, endsMs }: Pace): Forecast | null {
  const passedMs = nowMs - sinceMs;
  if (passedMs < dayMs) return null;
  const leftMs = BigInt(Math.max(0, endsMs - nowMs));
  const days = Math.min(paceDays, Math.floor(passedMs / dayMs));
  return { nano: spentNano + (recentNano * leftMs) / BigInt(passedMs), days };
}

const recent = `
  SELECT ${postedOfCalls('$1::uuid', '$2::timestamptz', '$3::timestamptz')}::text AS nano,
    (SELECT min(at) FROM ledger_line WHERE workspace_id = $1::uuid AND kind = 'usage') AS first`;

/** The forecast of the month that is running. @throws Error of the database. */
export async function readForecast(
  store: Queries,
  workspaceId: string,
  month: { readonly spentNano: bigint; readonly toMs: number },
  nowMs: number,
): Promise<Forecast | null> {
  // Lines of the ledger begin with a quarter of an hour.
  const weekMs = Math.floor(nowMs / quarterMs) * quarterMs - paceDays * dayMs;
  const [row] = await store.query<{ nano: string; first: Date | null }>(recent, [
    workspaceId,
    new Date(weekMs).toISOString(),
    new Date(nowMs).toISOString(),
  ]);
  if (row === undefined || row.first === null) return null;
  return forecastOf({
    spentNano: month.spentNano,
    recentNano: BigInt(row.nano),
    sinceMs: Math.max(weekMs, row.first.getTime()),
    nowMs,
    endsMs: month.toMs,
  });
}
