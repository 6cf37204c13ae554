import type { ShownResource } from '#lib/core/facts/resource';
import type { Ask } from '#lib/core/families/family';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { isError, objectIn, parseJson } from '#lib/core/families/reading/json';
import { deltaBytes, eventSays, itemBytes } from '#lib/core/families/responses/output';
import { headOf, itemsOf } from '#lib/core/families/responses/shown';
import { imageModelIn, usageOfResponse } from '#lib/core/families/responses/usage';
import type { UsageReport } from '#lib/core/metering/usage';

const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled']);

/** Reads a stream of response events: the newest response object reports the usage, at its end. */
export class ResponsesStream extends EventReader {
  /** The newest response object, as in created, in_progress, completed… */
  jobAnswer: unknown = undefined;
  nextNumber = 0;
  /** The same list until something new is shown. */
  shown: readonly ShownResource[] = [];
  readonly #imageModel: string | null;
  #report: UsageReport | null = null;
  /** Reported in deltas and, once more, in items that are done: the larger counts. */
  #deltaBytes = 0;
  #itemBytes = 0;
  readonly #shown = new Map<string, ShownResource>();

  constructor(ask: Ask) {
    super();
    this.#imageModel = imageModelIn(ask);
  }

  override event(name: string | null, data: string): void {
    if (name === 'error') this.failed = true;
    if (data.trim() === '[DONE]') {
      this.end();
      return;
    }
    const event = objectIn(parseJson(data));
    if (event === null) return;
    const { type, sequence_number: number } = event;
    if (typeof number === 'number') this.nextNumber = number + 1;
    if (isError(name, event)) this.fail(event.error ?? event);
    else if (eventSays(event)) this.said += 1;
    this.#deltaBytes += deltaBytes(event);
    const item = objectIn(event.item);
    if (item) {
      this.#show(itemsOf([item]));
      if (type === 'response.output_item.done') this.#itemBytes += itemBytes(item);
    }
    this.outputBytes = Math.max(this.#deltaBytes, this.#itemBytes);
    const response = objectIn(event.response);
    if (response === null) return;
    this.jobAnswer = response;
    this.#report = usageOfResponse(response, this.#imageModel);
    this.#show(headOf(response));
    this.#show(itemsOf(response.output));
    if (typeof type === 'string' && ends.has(type)) {
      this.end();
      this.gaveReason = true;
    }
    if (type === 'response.failed') this.fail(this.error ?? response.error);
  }

  override report(): UsageReport | null {
    return this.#report;
  }

  #show(resources: readonly ShownResource[]): void {
    const known = this.#shown.size;
    for (const one of resources) this.#shown.set(`${one.kind} ${one.id}`, one);
    if (this.#shown.size > known) this.shown = [...this.#shown.values()];
  }
}
