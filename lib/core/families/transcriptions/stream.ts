import type { Ask } from '#lib/core/families/family';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { countedUsage, readTranscriptionUsage } from '#lib/core/families/transcriptions/usage';
import { type UsageReport, unfinished } from '#lib/core/metering/usage';

/** Reads a streamed transcript: `transcript.text.delta`, `.segment`, and `.done` with the whole text and its usage. */
export class TranscriptionStream extends EventReader {
  readonly #ask: Pick<Ask, 'audio'>;
  #told: UsageReport | null = null;

  constructor(ask: Pick<Ask, 'audio'>) {
    super();
    this.#ask = ask;
  }

  override event(name: string | null, data: string): void {
    if (data.trim() === '[DONE]') {
      this.end();
      return;
    }
    const body = objectIn(parseJson(data));
    if (body === null) {
      if (name === 'error') this.failed = true;
      return;
    }
    const type = textIn(body.type) ?? name ?? '';
    if (type === 'error' || (body.error ?? null) !== null) this.fail(body.error ?? body);
    if (type === 'transcript.text.delta') this.#says(textIn(body.delta));
    // A diarized stream repeats in segments what its deltas say.
    if (type === 'transcript.text.segment') this.said += 1;
    if (type !== 'transcript.text.done') return;
    if (this.outputBytes === 0) this.#says(textIn(body.text));
    this.#told = readTranscriptionUsage(this.#ask, body);
    this.gaveReason = true;
    this.end();
  }

  override report(): UsageReport | null {
    if (this.#told !== null || this.said === 0) return this.#told;
    const counted = countedUsage(this.#ask);
    return counted && { ...counted, ...unfinished };
  }

  #says(text: string | null): void {
    if (text === null || text === '') return;
    this.outputBytes += Buffer.byteLength(text);
    this.said += 1;
  }
}
