import type { Ask, StreamReader } from '#lib/core/families/family';
import { contentOutputBytes, contentSays } from '#lib/core/families/generate-content/output';
import { searchesIn } from '#lib/core/families/generate-content/searches';
import { reportOf, usageObject } from '#lib/core/families/generate-content/usage';
import { type JsonObject, listIn, objectIn, parseJson } from '#lib/core/families/reading/json';
import type { UsageReport } from '#lib/core/metering/usage';

/**
 * Reads a stream of either framing, chunk by chunk. Usage stands on almost every chunk and is told for
 * all of the answer: the last object replaces the earlier ones whole, because with server tools it can
 * leave out what they had.
 */
export function contentStreamReader(ask: Ask): StreamReader {
  return new ContentStream(ask.choices);
}

class ContentStream implements StreamReader {
  readonly #choices: number;
  readonly #begun = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  readonly #searches = new Set<string>();
  #usage: JsonObject | null = null;
  /** Made when it is first needed, kept until newer usage arrives. */
  #report: UsageReport | null = null;
  #outputBytes = 0;
  #said = 0;
  #blocked = false;
  #failed = false;
  #error: unknown;

  constructor(choices: number) {
    this.#choices = choices;
  }

  event(_name: string | null, data: string): void {
    const parsed = parseJson(data);
    for (const value of Array.isArray(parsed) ? parsed : [parsed]) {
      const chunk = objectIn(value);
      if (chunk !== null) this.#read(chunk);
    }
  }

  #read(chunk: JsonObject): void {
    if ((chunk.error ?? null) !== null) {
      this.#failed = true;
      this.#error = chunk.error;
    }
    if (contentSays(chunk)) this.#said += 1;
    const usage = usageObject(chunk);
    const found = this.#searches.size;
    for (const query of searchesIn(chunk)) this.#searches.add(query);
    if (usage || this.#searches.size > found) this.#report = null;
    this.#usage = usage ?? this.#usage;
    this.#outputBytes += contentOutputBytes(chunk);
    const finished = this.finished();
    if (objectIn(chunk.promptFeedback)?.blockReason) this.#blocked = true;
    for (const value of listIn(chunk.candidates)) {
      const candidate = objectIn(value);
      // A name, or a number where enums are sent as numbers; 0 is none.
      this.#begun.add(candidate?.index ?? 0);
      if (candidate?.finishReason) this.#ended.add(candidate.index ?? 0);
    }
    if (this.finished() !== finished) this.#report = null;
  }

  report(): UsageReport | null {
    this.#report ??= this.#usage && this.#reportNow(this.#usage);
    return this.#report;
  }

  #reportNow(usage: JsonObject): UsageReport {
    const report = reportOf(usage, this.#searches.size);
    return this.finished() ? report : { ...report, soFar: true };
  }

  outputBytes(): number {
    return this.#outputBytes;
  }

  /** The family has no event for it: every candidate gave its reason, or the prompt was blocked. */
  finished(): boolean {
    return this.#blocked || this.#ended.size >= this.#choices;
  }

  ended(): boolean {
    return this.#blocked || (this.#ended.size > 0 && this.#ended.size >= this.#begun.size);
  }

  said(): number {
    return this.#said;
  }

  gaveReason(): boolean {
    return this.#blocked || this.#ended.size > 0;
  }

  failed(): boolean {
    return this.#failed;
  }

  error(): unknown {
    return this.#error;
  }
}
