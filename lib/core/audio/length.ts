import { detect } from '#lib/core/audio/formats';
import type { Step } from '#lib/core/audio/step';
import { pcm } from '#lib/core/audio/wave';

/**
 * Finds out how long a piece of audio is while its bytes pass, in whatever pieces they come (contract: money/audio-length).
 * It keeps at most one header of the file, each step consumes at least one byte, and the number of steps is limited, so
 * that a hostile file takes neither memory nor much time. Pure but for its own state.
 */
export class AudioLength {
  #step: Step;
  /** Bytes of the current step's header that have come. */
  readonly #held = Buffer.allocUnsafe(MOST_HEADER);
  #heldBytes = 0;
  #skip = 0;
  #steps = 0;
  #over = false;

  /** @param raw bare samples, as `response_format: pcm` sends them. */
  constructor(raw = false) {
    this.#step = raw ? pcm() : detect();
  }

  /** Takes the next bytes, which may be used again afterwards. */
  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length && !this.#over) {
      if (this.#skip > 0) {
        const passed = Math.min(this.#skip, chunk.length - at);
        this.#step.passed?.(passed);
        this.#skip -= passed;
        at += passed;
        continue;
      }
      const taken = Math.min(this.#step.want - this.#heldBytes, chunk.length - at);
      this.#held.set(chunk.subarray(at, at + taken), this.#heldBytes);
      this.#heldBytes += taken;
      at += taken;
      if (this.#heldBytes === this.#step.want) this.#take();
    }
  }

  /** The length so far, ms, rounded; null: it cannot be found out. */
  get ms(): number | null {
    const ms = this.#steps > MOST_STEPS ? null : this.#step.ms();
    return ms !== null && Number.isFinite(ms) && ms > 0 && ms <= MOST_MS ? Math.round(ms) : null;
  }

  #take(): void {
    const next = this.#step.take(this.#held.subarray(0, this.#heldBytes));
    this.#heldBytes = 0;
    this.#steps += 1;
    if (next === null || this.#steps > MOST_STEPS) {
      this.#over = true;
      return;
    }
    this.#step = next.step;
    this.#skip = next.skip ?? 0;
    // What is kept lies in `held` itself, which is used again.
    if (next.keep && next.keep.length > 0) this.push(Buffer.from(next.keep));
  }
}

/** The longest header that a step asks for, bytes. */
const MOST_HEADER = 512;
/** Headers of one file: a million frames are hours of sound. */
const MOST_STEPS = 4_000_000;
/** A longer file is damaged, or lies. */
const MOST_MS = 30 * 24 * 3_600_000;

/** The length of a whole piece of audio, piece by piece. @returns ms; null: it cannot be found out. */
export async function lengthOf(pieces: AsyncIterable<Uint8Array>): Promise<number | null> {
  const length = new AudioLength();
  for await (const piece of pieces) length.push(piece);
  return length.ms;
}
