import type { Ask } from '#lib/core/families/family';
import { contentOutputBytes, contentSays } from '#lib/core/families/generate-content/output';
import { reportOf, searchesIn, usageObject } from '#lib/core/families/generate-content/usage';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { type JsonObject, listIn, objectIn, parseJson } from '#lib/core/families/reading/json';
import type { UsageReport } from '#lib/core/metering/usage';

/**
 * Reads a stream of either framing, chunk by chunk. Almost every chunk has the usage of the whole answer so far: the
 * last object replaces the earlier ones as a whole, because with server tools it can leave out what they had.
 */
export class ContentStream extends EventReader {
  readonly #choices: number;
  readonly #begun = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  readonly #searches = new Set<string>();
  #usage: JsonObject | null = null;
  /** Made when it is first needed, kept until newer usage arrives. */
  #report: UsageReport | null = null;
  #blocked = false;

  constructor({ choices }: Ask) {
    super();
    this.#choices = choices;
  }

  override event(_name: string | null, data: string): void {
    const parsed = parseJson(data);
    for (const value of Array.isArray(parsed) ? parsed : [parsed]) {
      const chunk = objectIn(value);
      if (chunk !== null) this.#read(chunk);
    }
  }

  #read(chunk: JsonObject): void {
    if ((chunk.error ?? null) !== null) this.fail(chunk.error);
    if (contentSays(chunk)) this.said += 1;
    const usage = usageObject(chunk);
    const found = this.#searches.size;
    for (const query of searchesIn(chunk)) this.#searches.add(query);
    if (usage || this.#searches.size > found) this.#report = null;
    this.#usage = usage ?? this.#usage;
    this.outputBytes += contentOutputBytes(chunk);
    if (objectIn(chunk.promptFeedback)?.blockReason) this.#blocked = true;
    for (const value of listIn(chunk.candidates)) {
      const candidate = objectIn(value);
      // A name, or a number where enums are sent as numbers; 0 is none.
      this.#begun.add(candidate?.index ?? 0);
      if (candidate?.finishReason) this.#ended.add(candidate.index ?? 0);
    }
    const finished = this.#blocked || this.#ended.size >= this.#choices;
    if (finished !== this.finished) this.#report = null;
    // The family has no event for its end: every candidate gave its reason, or the prompt was blocked.
    this.finished = finished;
    this.gaveReason = this.#blocked || this.#ended.size > 0;
    this.ended = this.#blocked || (this.gaveReason && this.#ended.size >= this.#begun.size);
  }

  override report(): UsageReport | null {
    this.#report ??= this.#usage && this.#reportNow(this.#usage);
    return this.#report;
  }

  #reportNow(usage: JsonObject): UsageReport {
    const report = reportOf(usage, this.#searches.size);
    return this.finished ? report : { ...report, soFar: true };
  }
}
