import type { Ask } from '#lib/core/families/family';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { Figures } from '#lib/core/families/reading/figures';
import { objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import { SpokenAudio } from '#lib/core/families/speech/audio';
import { type UsageReport, unfinished, usageOf } from '#lib/core/metering/usage';

/** Reads a stream of speech: `speech.audio.delta` has a piece of the audio, `speech.audio.done` what it used. */
export class SpeechStream extends EventReader {
  readonly #audio: SpokenAudio;
  #told: UsageReport | null = null;

  constructor(ask: Ask) {
    super();
    this.#audio = new SpokenAudio(ask);
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
    const piece = textIn(body.audio);
    if (type === 'speech.audio.delta' && piece !== null && piece !== '') {
      this.#audio.push(Buffer.from(piece, 'base64'));
      this.outputBytes = this.#audio.outputBytes;
      this.said += 1;
    }
    if (type !== 'speech.audio.done') return;
    this.#told = this.#reported(objectIn(body.usage));
    this.gaveReason = true;
    this.end();
  }

  override report(): UsageReport | null {
    if (this.#told !== null) return this.#told;
    const counted = this.#audio.report();
    return counted && { ...counted, ...unfinished };
  }

  /** The tokens that the end reports: all of the output is audio. Characters and the length are counted here. */
  #reported(told: ReturnType<typeof objectIn>): UsageReport | null {
    const counted = this.#audio.report();
    if (told === null) return counted;
    const figures = new Figures();
    const input = figures.read(told.input_tokens, 'input');
    const output = figures.read(told.output_tokens, 'output');
    const usage = { ...(counted?.usage ?? usageOf({})), input, output, audioOutput: output };
    return { usage, serviceTier: null, nested: [], ...figures.marks() };
  }
}
