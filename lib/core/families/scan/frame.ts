import type { Level, Spelling } from '#lib/core/families/scan/spec';

/** Limit of nested objects and arrays (contract: body/one-pass). */
export const MAX_LEVELS = 512;

/** An object or array that is open at the moment, or was open at this depth before. */
export interface Frame {
  /** The one around it. */
  readonly outer: Frame | null;
  /** The one for what opens inside it, once something has. */
  inner: Frame | null;
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
  /** How many values were kept when it opened, if it is the value of a field. */
  firstKept: number;
}

// Reused by every pass that runs without interruption.
const shared = newFrame(null);

/** The frame around the root of one pass. @param interrupted whether other passes may run in between. */
export function outermostFrame(interrupted: boolean): Frame {
  return interrupted ? newFrame(null) : shared;
}

export function newFrame(outer: Frame | null): Frame {
  return {
    outer,
    inner: null,
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
    firstKept: 0,
  };
}
