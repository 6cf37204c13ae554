import { quickCode } from '#lib/core/families/scan/quick-code';

/** Most bytes of a body that it holds at a time. */
export const QUICK_BYTES = 256 * 1024;

/** For fewer bytes, copying them is not worth while. */
const LEAST_BYTES = 512;

/** Where the bytes are in its memory, as in tools/scanner/assembly/scanner.ts. */
const PART_ADDRESS = 64 * 1024;
/** Where its results are, in numbers of 32 bits. */
const PHASE = 0;
const DEPTH = 1;
const REACHED = 2;
const FRAMES = 16;
const FRAME_NUMBERS = 6;

/** What is known of an object or array: 0 or 1, and offsets in the body; an end of 0: there is no such key. */
export const IS_OBJECT = 0;
export const START = 1;
export const KEY_START = 2;
export const KEY_END = 3;
/** Of the value of its last key that names a media type. */
export const MEDIA_START = 4;
export const MEDIA_END = 5;
type FrameNumber = 0 | 1 | 2 | 3 | 4 | 5;

interface Code {
  readonly memory: WebAssembly.Memory;
  textEnd(from: number, until: number): number;
  base64End(from: number, until: number): number;
  run(
    from: number,
    until: number,
    phase: number,
    isObject: 0 | 1,
    levelsLeft: number,
    longest: number,
    filterLow: number,
    filterHigh: number,
  ): number;
}

/** The innermost open object or array (`Frame`), and which keys are read in it, or in the objects of the array. */
interface Open {
  readonly isObject: boolean;
  readonly level: {
    readonly longest: number;
    readonly filterLow: number;
    readonly filterHigh: number;
  } | null;
}

/**
 * Passes over what the gateway does not read of a body, in WebAssembly, 16 bytes at a time. It stops in front of
 * everything else, and of everything that is not valid: what that is, the parser decides (`read`).
 */
export class QuickScanner {
  readonly #code: Code;
  readonly #bytes: Uint8Array;
  readonly #numbers: Int32Array;
  #from = 0;
  #until = 0;
  /** What is expected where the last run stopped. */
  phase = 0;
  /** How many objects and arrays the last run has left open. */
  depth = 0;
  /** How far the string at which the last run stopped is surely valid; smaller than its offset: it is not known. */
  reached = 0;
  /** Whether the last run has read a key of the object in which it began. */
  hasKey = false;

  constructor(code: Code) {
    this.#code = code;
    this.#bytes = new Uint8Array(code.memory.buffer);
    this.#numbers = new Int32Array(code.memory.buffer);
  }

  /** Copies bytes [from, until) of a body, of which there are at most `QUICK_BYTES`. @returns whether it did. */
  load(body: Uint8Array, from: number, until: number): boolean {
    this.#from = from;
    this.#until = from;
    this.reached = 0;
    if (until - from < LEAST_BYTES || until - from > QUICK_BYTES) return false;
    this.#bytes.set(body.subarray(from, until), PART_ADDRESS);
    this.#until = until;
    return true;
  }

  /** @returns how far the inside of a string is surely plain, from `from` on. */
  textEnd(from: number, until: number): number {
    const last = Math.min(until, this.#until);
    if (from < this.#from || from >= last) return from;
    const shift = PART_ADDRESS - this.#from;
    return this.#code.textEnd(from + shift, last + shift) - shift;
  }

  /** @returns how far the bytes are surely characters of base64, from `from` on. */
  base64End(from: number, until: number): number {
    const last = Math.min(until, this.#until);
    if (from < this.#from || from >= last) return from;
    const shift = PART_ADDRESS - this.#from;
    return this.#code.base64End(from + shift, last + shift) - shift;
  }

  /**
   * Passes over as much as it can, to the end of the loaded bytes at most.
   * @param from an offset in the loaded bytes.
   * @param phase what is expected there: not a colon, nor the value of a key.
   * @param levelsLeft how many further levels may open.
   * @returns where it stopped: before a token, or in the white space before it. `phase`, `depth` and `number` say more.
   */
  run(from: number, phase: number, { isObject, level }: Open, levelsLeft: number): number {
    const shift = PART_ADDRESS - this.#from;
    const end = this.#code.run(
      from + shift,
      this.#until + shift,
      phase,
      isObject ? 1 : 0,
      levelsLeft,
      level === null ? -1 : level.longest,
      level === null ? 0 : level.filterLow,
      level === null ? 0 : level.filterHigh,
    );
    this.phase = this.#number(PHASE);
    this.depth = this.#number(DEPTH);
    this.reached = this.#number(REACHED) - shift;
    this.hasKey = this.#number(FRAMES + KEY_END) !== 0;
    return end - shift;
  }

  /**
   * Reports what the last run has found in objects and arrays that are still open. Level 0 is the one in which it began,
   * those up to `depth` it has opened itself.
   */
  number(level: number, what: FrameNumber): number {
    const found = this.#number(FRAMES + level * FRAME_NUMBERS + what);
    return what === IS_OBJECT || found === 0 ? found : found - PART_ADDRESS + this.#from;
  }

  #number(index: number): number {
    return this.#numbers[index] as number;
  }
}

/** Null: this processor has no such instructions, and the parser does all of it. */
export const quickScanner = createScanner();

function createScanner(): QuickScanner | null {
  const code = Buffer.from(quickCode, 'base64');
  if (!WebAssembly.validate(code)) return null;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
  return new QuickScanner(exports as unknown as Code);
}
