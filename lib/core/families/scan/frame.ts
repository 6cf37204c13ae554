import type { Level, Spelling } from '#lib/core/families/scan/spec';

/** Limit of nested objects and arrays (contract: body/one-pass). */
export const MAX_LEVELS = 512;

/** An object or array that is open at the moment. */
export interface Frame {
  isObject: boolean;
  start: number;
  /** Names read in this object, or in each object of this array. */
  level: Level | null;
  /** Which field this object or array is the value of. */
  spelling: Spelling | null;
  /** Bits of the guarded names seen. */
  seen: number;
  keyStart: number;
  keyEnd: number;
  /** Field that the current key names. */
  current: Spelling | null;
  mediaStart: number;
  mediaEnd: number;
  firstLong: number;
  /** How many values were kept when it opened. */
  firstKept: number;
}

// Reused by every pass that runs without interruption.
const shared: Frame[] = [];

/** The frames of one pass, created on demand. @param interrupted whether other passes may run in between. */
export function framesFor(interrupted: boolean): Frame[] {
  return interrupted ? [] : shared;
}

/** @param depth 0 to MAX_LEVELS. */
export function frameAt(frames: Frame[], depth: number): Frame {
  const made = frames[depth];
  if (made !== undefined) return made;
  const frame = newFrame();
  frames[depth] = frame;
  return frame;
}

function newFrame(): Frame {
  return {
    isObject: false,
    start: 0,
    level: null,
    spelling: null,
    seen: 0,
    keyStart: 0,
    keyEnd: 0,
    current: null,
    mediaStart: 0,
    mediaEnd: 0,
    firstLong: 0,
    firstKept: 0,
  };
}

/** The names that are read inside a value that opens in `outer`. */
export function levelInside(outer: Frame, isObject: boolean): Level | null {
  if (outer.current !== null) {
    const { members, elements } = outer.current.rule;
    return isObject ? members : elements;
  }
  return isObject && !outer.isObject ? outer.level : null;
}

/** The spelling under which an object in an array is collected; null: it is not. */
export function elementOf(outer: Frame, isObject: boolean): Spelling | null {
  return isObject && !outer.isObject ? (outer.spelling?.rule.element ?? null) : null;
}
