import { idFloor } from '#lib/platform/ids';

export const dayMs = 24 * 3_600_000;
export const weekMs = 7 * dayMs;
/** A Monday, 00:00 UTC. */
const firstMondayMs = Date.UTC(1970, 0, 5);

/** A week of the call log: the partition with its ids. */
export interface Week {
  /** "call_w20261116": the week that begins on that Monday. */
  readonly name: string;
  /** Its first moment, ms since the epoch. */
  readonly startMs: number;
  /** Ids in [fromId, toId). */
  readonly fromId: string;
  readonly toId: string;
}

/** Start of the week (Monday, 00:00 UTC) of a moment; both in ms since the epoch. */
export function weekStart(ms: number): number {
  return firstMondayMs + Math.floor((ms - firstMondayMs) / weekMs) * weekMs;
}

/** @param startMs a start of a week, ms since the epoch. */
export function weekAt(startMs: number): Week {
  const monday = new Date(startMs).toISOString().slice(0, 10).replaceAll('-', '');
  return { name: `call_w${monday}`, startMs, fromId: idFloor(startMs), toId: idFloor(startMs + weekMs) };
}

/** The week of the partition with this name; null for the default partition and other tables. */
export function weekNamed(name: string): Week | null {
  const [, year, month, day] = /^call_w(\d{4})(\d\d)(\d\d)$/.exec(name) ?? [];
  return year ? weekAt(Date.UTC(Number(year), Number(month) - 1, Number(day))) : null;
}

/** The first id that a retention of this many days keeps, counted back from `nowMs`. */
export function keptFromId(nowMs: number, days: number): string {
  return idFloor(Math.max(0, nowMs - days * dayMs));
}
