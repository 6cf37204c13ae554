import type { Ask, BodyReader } from '#lib/core/families/family';
import { objectIn, textIn } from '#lib/core/families/reading/json';
import { countedUsage } from '#lib/core/families/transcriptions/usage';
import type { UsageReport } from '#lib/core/metering/usage';

/** A transcript as plain text or subtitles, which reports nothing. */
export class Transcript implements BodyReader {
  readonly #ask: Pick<Ask, 'audio'>;
  outputBytes = 0;

  constructor(ask: Pick<Ask, 'audio'>) {
    this.#ask = ask;
  }

  push(chunk: Uint8Array): void {
    this.outputBytes += chunk.length;
  }

  report(): UsageReport | null {
    return this.outputBytes === 0 ? null : countedUsage(this.#ask);
  }
}

/** UTF-8 bytes of the text of a whole answer; its words and segments only repeat it. */
export function transcriptBytes(answer: unknown): number {
  return Buffer.byteLength(textIn(objectIn(answer)?.text) ?? '');
}
