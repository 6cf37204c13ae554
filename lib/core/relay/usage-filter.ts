import { ChoiceSight } from '#lib/core/relay/choice-sight';
import { judge, withoutUsage } from '#lib/core/relay/usage-event';
import { UsageProbe } from '#lib/core/relay/usage-probe';

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
 * Removes each event that only reports usage, from its first byte to its blank line, and only the usage from an event
 * that also contains something for people (contract: body/include-usage). Everything else passes byte for byte; an
 * event is held back only while it may still be such a one.
 */
export class UsageFilter {
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

  /** @returns the pieces that may go to the client now: slices of what came in. */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    const out: Uint8Array[] = [];
    const sight = new ChoiceSight(chunk);
    /** What of this chunk has neither gone out nor been dropped. */
    let from = 0;
    let holdFrom = 0;
    for (let i = 0; i < chunk.length; i++) {
      const c = chunk[i] ?? 0;
      const dropLf = this.#dropLf;
      this.#dropLf = false;
      if (c === LF && this.#afterCr && this.#lineEmpty) {
        this.#afterCr = false;
        if (dropLf) from = i + 1;
        continue;
      }
      if (c === LF || c === CR) {
        this.#afterCr = c === CR;
        if (this.#lineEmpty) {
          if (this.#holding) {
            const event = this.#heldUpTo(chunk.subarray(holdFrom, i));
            const verdict = judge(event);
            if (verdict !== 'pass') {
              if (holdFrom > from) out.push(chunk.subarray(from, holdFrom));
              if (verdict === 'strip') out.push(withoutUsage(event));
              from = verdict === 'strip' ? i : i + 1;
              this.#dropLf = verdict === 'remove' && c === CR;
              this.#forget();
            }
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
    if (sendTo > from) out.push(sendTo - from === chunk.length ? chunk : chunk.subarray(from, sendTo));
    if (this.#holding) this.#hold(chunk.subarray(holdFrom), out);
    return out;
  }

  /** The stream is over. @returns what was still held back. */
  flush(): readonly Uint8Array[] {
    const out: Uint8Array[] = [];
    if (this.#holding) {
      const event = this.#heldUpTo(new Uint8Array());
      const verdict = judge(event);
      if (verdict === 'strip') out.push(withoutUsage(event));
      if (verdict !== 'pass') this.#forget();
    }
    this.#release(out);
    return out;
  }

  /** @returns whether the open event may still be one that only reports usage. */
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

  #heldUpTo(tail: Uint8Array): Uint8Array {
    return this.#held.length === 0 ? tail : Buffer.concat([...this.#held, tail]);
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
