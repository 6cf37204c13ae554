import type { AskedAudio } from '#lib/core/families/family';
import { Figures } from '#lib/core/families/reading/figures';
import { type JsonObject, objectIn, textIn } from '#lib/core/families/reading/json';
import { writtenTokens } from '#lib/core/metering/estimate-audio';
import type { Meter } from '#lib/core/metering/meter';
import { type NestedUsage, type UsageReport, unfinished, usageOf } from '#lib/core/metering/usage';

/** Audio tokens that a realtime model writes and hears in a second (contract: realtime/charge). */
const WRITTEN_PER_SECOND = 20;
const HEARD_PER_SECOND = 10;
/** Bytes of a second of audio: 16-bit PCM at 24 kHz, and G.711. */
const PCM_BYTES = 48_000;
const G711_BYTES = 8_000;

/** An estimate takes four bytes of output for a token. */
const BYTES_PER_TOKEN = 4;

/** @param format as a session names it; absent: PCM. @returns bytes a second. */
function bytesPerSecond(format: string | null): number {
  return format !== null && /g711|pcmu|pcma/.test(format) ? G711_BYTES : PCM_BYTES;
}

/** @param base64 its length, characters. @returns tokens that a model reads of audio, not rounded. */
export function heardTokens(base64: number, format: string | null): number {
  return (((base64 * 3) / 4) * HEARD_PER_SECOND) / bytesPerSecond(format);
}

/** Audio that is transcribed. @param tokens of it, whole. */
export function heardAudio(tokens: number): AskedAudio {
  const ms = (tokens / HEARD_PER_SECOND) * 1_000;
  return { characters: 0, ms, fileMs: ms, heardMs: ms, tokens: writtenTokens(ms), mostMs: ms };
}

/** What was used before it is known to be all. */
interface Told {
  readonly report: UsageReport | null;
  readonly failed: boolean;
}

/** Meters one response of a session. */
export class ResponseMeter implements Pick<Meter, 'report' | 'outputBytes' | 'failed' | 'flags'> {
  readonly flags: readonly string[] = [];
  #textBytes = 0;
  #audioTokens = 0;
  #told: Told | null = null;

  /** A piece of text: of a transcript, of an answer, or of a call of a function. @param bytes of JSON. */
  text(bytes: number): void {
    this.#textBytes += bytes;
  }

  /** A piece of audio. @param base64 its length, characters. */
  audio(base64: number, format: string | null): void {
    this.#audioTokens += (((base64 * 3) / 4) * WRITTEN_PER_SECOND) / bytesPerSecond(format);
  }

  /** The response has ended. @param response that of the event `response.done`, parsed. */
  done(response: JsonObject): void {
    const status = textIn(response.status);
    this.#told = { report: usageOfResponse(response), failed: status === 'failed' };
  }

  /** Something that is not a response was used. */
  used(report: UsageReport): void {
    this.#told = { report, failed: false };
  }

  /** The provider says that it has ended. */
  get ended(): boolean {
    return this.#told !== null;
  }

  get failed(): boolean {
    return this.#told?.failed ?? false;
  }

  get outputBytes(): number {
    return this.#textBytes + Math.ceil(this.#audioTokens) * BYTES_PER_TOKEN;
  }

  report(): UsageReport | null {
    if (this.#told?.report) return this.#told.report;
    const audioOutput = Math.ceil(this.#audioTokens);
    if (audioOutput === 0) return null;
    const output = Math.ceil(this.outputBytes / BYTES_PER_TOKEN);
    const usage = usageOf({ output, audioOutput });
    return { usage, serviceTier: null, nested: [], flags: [], ...unfinished };
  }
}

const totals = ['input_tokens', 'output_tokens', 'total_tokens'] as const;

/** Usage of a response; null: it has none. Cached tokens are parts of their kinds. */
export function usageOfResponse(response: JsonObject): UsageReport | null {
  const usage = objectIn(response.usage);
  if (!usage || totals.every((name) => (usage[name] ?? null) === null)) return null;
  const figures = new Figures();
  const into = objectIn(usage.input_token_details);
  const out = objectIn(usage.output_token_details);
  const cached = objectIn(into?.cached_tokens_details);
  const cachedInput = figures.read(into?.cached_tokens);
  const all = figures.read(usage.input_tokens, 'input');
  if ((usage.input_tokens ?? null) === null) figures.lack('input');
  if ((usage.output_tokens ?? null) === null) figures.lack('output');
  if (cachedInput > all) figures.flag('usage_inconsistent');
  const input = Math.max(0, all - cachedInput);
  const fresh = (of: string) => Math.max(0, figures.read(into?.[of]) - figures.read(cached?.[of]));
  const audioInput = Math.min(fresh('audio_tokens'), input);
  const imageInput = Math.min(fresh('image_tokens'), input - audioInput);
  const cachedAudioInput = Math.min(figures.read(cached?.audio_tokens), cachedInput);
  const cachedImageInput = Math.min(figures.read(cached?.image_tokens), cachedInput - cachedAudioInput);
  const output = figures.read(usage.output_tokens, 'output');
  const audioOutput = Math.min(figures.read(out?.audio_tokens), output);
  return {
    usage: usageOf({
      input,
      audioInput,
      imageInput,
      cachedInput,
      cachedAudioInput,
      cachedImageInput,
      output,
      audioOutput,
    }),
    serviceTier: null,
    nested: [],
    ...figures.marks(),
  };
}

/**
 * What the transcription of what was said used, priced as the model that made it; null: nothing is reported.
 * @param upstreamModel as the provider names it.
 */
export function usageOfTranscript(event: JsonObject, upstreamModel: string): UsageReport | null {
  const told = objectIn(event.usage);
  if (!told) return null;
  const figures = new Figures();
  const into = objectIn(told.input_token_details);
  const input = figures.read(told.input_tokens);
  const usage = usageOf({
    input,
    audioInput: Math.min(figures.read(into?.audio_tokens), input),
    output: figures.read(told.output_tokens),
    audioMs: figures.read(typeof told.seconds === 'number' ? Math.ceil(told.seconds * 1000) : told.seconds),
  });
  const nested: NestedUsage[] = [{ upstreamModel, usage }];
  return { usage: usageOf({}), serviceTier: null, nested, ...figures.marks() };
}

/** What the next response reads again of a conversation, tokens. */
export interface ContextTokens {
  readonly text: number;
  readonly audio: number;
}

/** As the usage of the newest response shows it. */
export function contextAfter(response: JsonObject): ContextTokens | null {
  const usage = objectIn(response.usage);
  if (!usage) return null;
  const figures = new Figures();
  const into = objectIn(usage.input_token_details);
  const out = objectIn(usage.output_token_details);
  const audio = figures.read(into?.audio_tokens) + figures.read(out?.audio_tokens);
  const all = figures.read(usage.input_tokens) + figures.read(usage.output_tokens);
  return { audio, text: Math.max(0, all - audio) };
}
