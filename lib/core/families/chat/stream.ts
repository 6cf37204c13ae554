import type { ShownResource } from '#lib/core/facts/resource';
import { choiceBytes, choiceError, choiceSays } from '#lib/core/families/chat/output';
import { spokenIn } from '#lib/core/families/chat/spoken';
import { storedIn } from '#lib/core/families/chat/stored';
import { hidesThinking, reportOf, usageObject } from '#lib/core/families/chat/usage';
import type { Ask } from '#lib/core/families/family';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { type JsonObject, listIn, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import type { UsageReport } from '#lib/core/metering/usage';

/** Reads a chat stream of any dialect: the last non-null usage wins, on whichever chunk it arrives. */
export class ChatStream extends EventReader {
  /** Spoken choices, and the completion itself if it is stored. */
  shown: readonly ShownResource[] = [];
  readonly #ask: Ask;
  readonly #begun = new Set<unknown>();
  readonly #ended = new Set<unknown>();
  #usage: JsonObject | null = null;
  #hidesThinking = false;
  #serviceTier: string | null = null;
  /** Made when it is first needed, kept until newer usage arrives. */
  #report: UsageReport | null = null;
  #done = false;

  constructor(ask: Ask) {
    super();
    this.#ask = ask;
  }

  override event(name: string | null, data: string): void {
    if (data.trim() === '[DONE]') {
      this.#done = true;
      this.end();
      return;
    }
    if (name === 'error') this.failed = true;
    const chunk = objectIn(parseJson(data));
    if (chunk === null) return;
    if ((chunk.error ?? null) !== null) this.fail(chunk.error);
    const usage = usageObject(chunk);
    const tier = textIn(chunk.service_tier);
    if (usage || (tier && tier !== this.#serviceTier)) this.#report = null;
    this.#usage = usage ?? this.#usage;
    if (usage) this.#hidesThinking = hidesThinking(this.#ask, chunk);
    this.#serviceTier = tier ?? this.#serviceTier;
    if (this.#ask.shows !== false) this.#hear(chunk);
    const ended = this.#ended.size;
    let says = false;
    for (const value of listIn(chunk.choices)) {
      const choice = objectIn(value);
      if (choice === null) continue;
      this.outputBytes += choiceBytes(choice);
      says ||= choiceSays(choice);
      const index = choice.index ?? 0;
      this.#begun.add(index);
      if (textIn(choice.finish_reason)) this.#ended.add(index);
      const error = choiceError(choice);
      if (error !== undefined) this.fail(error);
    }
    if (says) this.said += 1;
    if (this.#ended.size !== ended) this.#report = null;
    this.gaveReason = this.#ended.size > 0;
    // Some dialects end without [DONE]: when every choice has ended and usage is reported.
    this.finished ||= this.#usage !== null && this.#ended.size >= this.#ask.choices;
    this.ended = this.#done || (this.gaveReason && this.#ended.size >= this.#begun.size);
  }

  /** Every chunk may repeat an id. */
  #hear(chunk: JsonObject): void {
    const fresh = [...spokenIn(chunk), ...storedIn(this.#ask.operation, chunk, this.#ask.stored)].filter(
      ({ id }) => !this.shown.some((one) => one.id === id),
    );
    if (fresh.length > 0) this.shown = [...this.shown, ...fresh];
  }

  override report(): UsageReport | null {
    this.#report ??= this.#usage && this.#reportNow(this.#usage);
    return this.#report;
  }

  /** Some dialects report usage with every chunk. */
  #reportNow(usage: JsonObject): UsageReport | null {
    const report = reportOf(usage, this.#serviceTier, this.#hidesThinking);
    return report && this.#ended.size < this.#ask.choices ? { ...report, soFar: true } : report;
  }

  protected override fail(error: unknown): void {
    this.failed = true;
    // A choice may only say that there was an error, next to the chunk that says which.
    const telling = Object.keys(objectIn(error) ?? {}).length > 0 || typeof error === 'string';
    if (telling || this.error === undefined) this.error = error;
  }
}
