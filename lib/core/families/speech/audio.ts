import { AudioLength } from '#lib/core/audio/length';
import type { Ask, AskedAudio, BodyReader } from '#lib/core/families/family';
import { speechTokens } from '#lib/core/metering/estimate-audio';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';

/** An estimate takes four bytes of output for a token. */
const BYTES_PER_TOKEN = 4;

/** Measures the audio of an answer, as it comes, and counts what it was made of (contract: money/audio-charge). */
export class SpokenAudio implements BodyReader {
  readonly #asked: AskedAudio | null;
  readonly #length: AudioLength;
  #bytes = 0;

  constructor({ audio, scan }: Pick<Ask, 'audio' | 'scan'>) {
    this.#asked = audio ?? null;
    this.#length = new AudioLength(scan.found.get('response_format')?.value === 'pcm');
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    this.#length.push(chunk);
  }

  report(): UsageReport | null {
    if (this.#bytes === 0) return null;
    const usage = usageOf({ characters: this.#asked?.characters ?? 0, audioMs: this.#ms });
    const report = { usage, serviceTier: null, nested: [], flags: ['usage_counted'] };
    // Of a length that is only estimated, the charge is an estimate too.
    return this.#length.ms === null ? { ...report, unread: ['input', 'output'] } : report;
  }

  get outputBytes(): number {
    return this.#bytes === 0 ? 0 : speechTokens(this.#ms) * BYTES_PER_TOKEN;
  }

  /** Of audio whose length cannot be found out, the length is estimated by its text. */
  get #ms(): number {
    return this.#length.ms ?? this.#asked?.ms ?? 0;
  }
}
