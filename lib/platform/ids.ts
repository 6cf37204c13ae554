import { randomFillSync } from 'node:crypto';
import type { Clock } from '#lib/platform/clock';

/** Of every counter. */
const threeDigits = Array.from({ length: 4096 }, (_, value) => value.toString(16).padStart(3, '0'));
const variants = '89ab';
const earliestMs = Date.UTC(2025, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);
/** A clock set back by more than this is followed; by less, ids stay ascending. */
const patienceMs = 10_000;

/** Makes the ids of calls, attempts and rows. */
export interface Ids {
  /**
   * UUIDv7, ascending within the process; null when the wall clock is outside 2025–2100
   * (contract: request/no-request-id).
   */
  newId(): string | null;
  /** `noid-` + 16 hex digits of the start time and a counter of this process. */
  fallbackId(): string;
}

/** @param clock only `now()` is read, once for each id. */
export function createIds(clock: Clock): Ids {
  const pool = Buffer.allocUnsafe(4096);
  let taken = pool.length;
  let lastMs = 0;
  let counter = 0;
  /** The pool as text, made once for all ids that are cut from it. */
  let random = '';
  let timeText = '';
  const startText = digitsOf(clock.now(), 10);
  let fallbacks = 0;

  function advanceTo(ms: number, seed: number): void {
    lastMs = ms;
    // Only 11 of the 12 bits are random, so that a busy millisecond has room to count up.
    counter = seed & 0x7ff;
    const text = digitsOf(ms, 12);
    timeText = `${text.slice(0, 8)}-${text.slice(8)}-7`;
  }

  function newId(): string | null {
    const nowMs = clock.now();
    if (!(nowMs >= earliestMs && nowMs < latestMs)) return null;
    if (taken + 10 > pool.length) {
      randomFillSync(pool);
      random = pool.toString('hex');
      taken = 0;
    }
    const at = taken;
    taken += 10;
    if (nowMs > lastMs || nowMs < lastMs - patienceMs) advanceTo(Math.floor(nowMs), pool.readUInt16LE(at));
    else if (counter === 0xfff) advanceTo(lastMs + 1, pool.readUInt16LE(at));
    else counter++;
    const variant = variants[((pool[at + 2] ?? 0) >> 4) & 3];
    const from = at * 2 + 5;
    return `${timeText}${threeDigits[counter]}-${variant}${random.slice(from, from + 3)}-${random.slice(from + 3, from + 15)}`;
  }

  return {
    newId,
    fallbackId: () => `noid-${startText}${digitsOf(fallbacks++, 6)}`,
  };
}

/** The low `count` hex digits of an integer. */
function digitsOf(value: number, count: number): string {
  const bits = BigInt.asUintN(count * 4, BigInt(Number.isFinite(value) ? Math.trunc(value) : 0));
  return bits.toString(16).padStart(count, '0');
}

/** The time in a UUIDv7, ms since the epoch; NaN if the string contains none. */
export function idTimeMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** The lowest UUID of a moment (ms since the epoch): ids of [a, b) lie in [idFloor(a), idFloor(b)). */
export function idFloor(ms: number): string {
  const text = digitsOf(ms, 12);
  return `${text.slice(0, 8)}-${text.slice(8)}-0000-0000-000000000000`;
}
