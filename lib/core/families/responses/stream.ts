import type { ShownResource } from '#lib/core/facts/resource';
import type { Ask, StreamReader } from '#lib/core/families/family';
import { isError, type JsonObject, objectIn, parseJson } from '#lib/core/families/reading/json';
import { imageModelIn } from '#lib/core/families/responses/image-model';
import { deltaBytes, eventSays, itemBytes } from '#lib/core/families/responses/output';
import { headOf, itemsOf } from '#lib/core/families/responses/shown';
import { usageOfResponse } from '#lib/core/families/responses/usage';
import type { UsageReport } from '#lib/core/metering/usage';

const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled']);

/** Reads a stream of response events: the newest response object tells the usage, at its end. */
export function responsesStreamReader(ask: Ask): StreamReader {
  return new ResponsesStream(imageModelIn(ask));
}

class ResponsesStream implements StreamReader {
  readonly #imageModel: string | null;
  /** The newest response object, as it stands in created, in_progress, completed… */
  #response: JsonObject | null = null;
  #report: UsageReport | null = null;
  /** Told in deltas and, once more, in items that are done: the larger counts. */
  #deltaBytes = 0;
  #itemBytes = 0;
  readonly #shown = new Map<string, ShownResource>();
  #shownList: readonly ShownResource[] = [];
  #said = 0;
  #next = 0;
  #concluded = false;
  #done = false;
  #failed = false;
  #error: unknown;

  constructor(imageModel: string | null) {
    this.#imageModel = imageModel;
  }

  event(name: string | null, data: string): void {
    if (name === 'error') this.#failed = true;
    if (data.trim() === '[DONE]') {
      this.#done = true;
      return;
    }
    const event = objectIn(parseJson(data));
    if (event === null) return;
    this.#deltaBytes += deltaBytes(event);
    const { type, sequence_number: number } = event;
    if (typeof number === 'number') this.#next = number + 1;
    if (isError(name, event)) {
      this.#failed = true;
      this.#error = event.error ?? event;
    } else if (eventSays(event)) this.#said += 1;
    const item = objectIn(event.item);
    if (item) {
      this.#show(itemsOf([item]));
      if (type === 'response.output_item.done') this.#itemBytes += itemBytes(item);
    }
    const response = objectIn(event.response);
    if (response === null) return;
    this.#response = response;
    this.#report = usageOfResponse(response, this.#imageModel);
    this.#show(headOf(response));
    this.#show(itemsOf(response.output));
    if (typeof type === 'string' && ends.has(type)) {
      this.#done = true;
      this.#concluded = true;
    }
    if (type === 'response.failed') {
      this.#failed = true;
      this.#error ??= response.error;
    }
  }

  report(): UsageReport | null {
    return this.#report;
  }

  outputBytes(): number {
    return Math.max(this.#deltaBytes, this.#itemBytes);
  }

  finished(): boolean {
    return this.#done;
  }

  ended(): boolean {
    return this.#done;
  }

  said(): number {
    return this.#said;
  }

  gaveReason(): boolean {
    return this.#concluded;
  }

  failed(): boolean {
    return this.#failed;
  }

  error(): unknown {
    return this.#error;
  }

  /** The same list until something new is shown. */
  shown(): readonly ShownResource[] {
    return this.#shownList;
  }

  nextNumber(): number {
    return this.#next;
  }

  jobAnswer(): unknown {
    return this.#response ?? undefined;
  }

  #show(resources: readonly ShownResource[]): void {
    const known = this.#shown.size;
    for (const one of resources) this.#shown.set(`${one.kind} ${one.id}`, one);
    if (this.#shown.size > known) this.#shownList = [...this.#shown.values()];
  }
}
