import { ChoiceSight } from '#lib/relay/choice-sight';
import { isUsageEvent, UsageProbe } from '#lib/relay/usage-probe';

/** Takes out of a stream the one usage event that the gateway asked for itself. */
export interface UsageFilter {
  /** @returns the pieces that may go to the client now: slices of what came in. */
  push(chunk: Uint8Array): readonly Uint8Array[];
  /** The stream is over. @returns what was still held back. */
  flush(): readonly Uint8Array[];
}

/** A usage event is far smaller; what grows past this goes out as it is. */
const MAX_HELD_BYTES = 1024 * 1024;

const LF = 0x0a;
const CR = 0x0d;
const MARK = [0xef, 0xbb, 0xbf];
const DATA = Buffer.from('data:');
/** Positions in a line: 0 to 4 inside "data:", then a space that may follow, its value, or another field. */
const SPACE = 5;
const VALUE = 6;
const OTHER = 7;

/**
 * Removes exactly one event, from its first byte to its blank line: one whose JSON has `choices: []`, a
 * non-null `usage` and no further key (contract: body/include-usage). Everything else passes byte for byte; an event
 * is held back only while it may still be that one.
 */
export function createUsageFilter(): UsageFilter {
  return new Filter();
}

class Filter implements UsageFilter {
  #removed = false;
  /** Bytes of the byte order mark seen at the very start; -1: past it. */
  #mark = 0;
  #inEvent = false;
  #lineEmpty = true;
  #afterCr = false;
  #position = 0;
  #probe = new UsageProbe();
  #holding = false;
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  /** A removed event ended in CR: a LF right after it belongs to it. */
  #dropLf = false;

  push(chunk: Uint8Array): readonly Uint8Array[] {
    if (this.#removed) return this.#afterRemoval(chunk);
    const out: Uint8Array[] = [];
    const sight = new ChoiceSight(chunk);
    let holdFrom = 0;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i] ?? 0;
      if (c === LF && this.#afterCr && this.#lineEmpty) {
        this.#afterCr = false;
        continue;
      }
      if (c === LF || c === CR) {
        this.#afterCr = c === CR;
        if (this.#lineEmpty) {
          if (this.#holding && this.#isTheOne(chunk.subarray(holdFrom, i))) {
            if (holdFrom > 0) out.push(chunk.subarray(0, holdFrom));
            this.#forget();
            this.#removed = true;
            this.#dropLf = c === CR;
            if (i + 1 < chunk.length) out.push(...this.#afterRemoval(chunk.subarray(i + 1)));
            return out;
          }
          this.#release(out);
          this.#inEvent = false;
        }
        this.#endLine();
        continue;
      }
      if (!this.#inEvent) {
        if (this.#isMark(c)) continue;
        this.#inEvent = true;
        this.#holding = !sight.hasChoice(i);
        holdFrom = i;
      }
      this.#lineEmpty = false;
      if (this.#holding) {
        if (!this.#feed(c)) this.#release(out);
      } else {
        while (i + 1 < chunk.length && chunk[i + 1] !== LF && chunk[i + 1] !== CR) i++;
      }
    }
    const sendTo = this.#holding ? holdFrom : chunk.length;
    if (sendTo > 0) out.push(sendTo === chunk.length ? chunk : chunk.subarray(0, sendTo));
    if (this.#holding) this.#hold(chunk.subarray(holdFrom), out);
    return out;
  }

  flush(): readonly Uint8Array[] {
    const out: Uint8Array[] = [];
    if (this.#holding && this.#isTheOne(new Uint8Array())) this.#forget();
    this.#release(out);
    return out;
  }

  #afterRemoval(chunk: Uint8Array): readonly Uint8Array[] {
    if (chunk.length === 0) return [];
    const from = this.#dropLf && chunk[0] === LF ? 1 : 0;
    this.#dropLf = false;
    return from === 0 ? [chunk] : chunk.length > 1 ? [chunk.subarray(1)] : [];
  }

  /** @returns whether the open event may still be the one. */
  #feed(c: number): boolean {
    if (this.#position === VALUE) return this.#probe.feed(c);
    if (this.#position === OTHER) return true;
    if (this.#position === SPACE) {
      this.#position = VALUE;
      return c === 0x20 || this.#probe.feed(c);
    }
    this.#position = c === DATA[this.#position] ? this.#position + 1 : OTHER;
    return true;
  }

  #endLine(): void {
    this.#lineEmpty = true;
    this.#position = 0;
  }

  #isMark(c: number): boolean {
    if (this.#mark < 0 || this.#mark > 2 || c !== MARK[this.#mark]) {
      this.#mark = -1;
      return false;
    }
    this.#mark++;
    return true;
  }

  #isTheOne(tail: Uint8Array): boolean {
    return isUsageEvent(this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]));
  }

  #hold(piece: Uint8Array, out: Uint8Array[]): void {
    this.#held.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes > MAX_HELD_BYTES) this.#release(out);
  }

  /** The event is another one, or over: what was held goes out. */
  #release(out: Uint8Array[]): void {
    out.push(...this.#held);
    this.#forget();
  }

  #forget(): void {
    this.#held = [];
    this.#heldBytes = 0;
    this.#holding = false;
    this.#probe = new UsageProbe();
  }
}
