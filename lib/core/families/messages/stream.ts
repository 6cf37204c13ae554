import type { ShownResource } from '#lib/core/facts/resource';
import type { Ask, StreamReader } from '#lib/core/families/family';
import { containerIn } from '#lib/core/families/messages/container';
import { blockBytes, blockSays, deltaBytes, deltaSays } from '#lib/core/families/messages/output';
import { foldUsage, reportOf } from '#lib/core/families/messages/usage';
import { isError, type JsonObject, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import type { UsageReport } from '#lib/core/metering/usage';

/** Reads a messages stream: usage reported at the start, then overridden by each delta of the message. */
export function messagesStreamReader(ask: Ask): StreamReader {
  return new MessagesStream(ask);
}

class MessagesStream implements StreamReader {
  readonly #ask: Ask;
  #usage: JsonObject | null = null;
  /** The message that the usage is of. */
  #message: string | null = null;
  /** A delta has reported the output: until then the start has only a few tokens of it. */
  #outputTold = false;
  /** Made when it is first needed, kept until newer usage arrives. */
  #report: UsageReport | null = null;
  #outputBytes = 0;
  #container: readonly ShownResource[] = [];
  #said = 0;
  #gaveReason = false;
  #done = false;
  #failed = false;
  #error: unknown;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  event(name: string | null, data: string): void {
    if (name === 'error') this.#failed = true;
    const event = objectIn(parseJson(data));
    if (event !== null && isError(name, event)) {
      this.#failed = true;
      this.#error = event.error ?? event;
    }
    switch (event?.type) {
      case 'message_start':
        this.#show(event.message);
        this.#start(objectIn(event.message) ?? {});
        break;
      case 'content_block_start':
        this.#outputBytes += blockBytes(objectIn(event.content_block) ?? {});
        if (blockSays(objectIn(event.content_block))) this.#said += 1;
        break;
      case 'content_block_delta':
        this.#outputBytes += deltaBytes(objectIn(event.delta) ?? {});
        if (deltaSays(objectIn(event.delta))) this.#said += 1;
        break;
      case 'message_delta':
        this.#show(event.delta);
        this.#gaveReason ||= textIn(objectIn(event.delta)?.stop_reason) !== null;
        this.#tell(objectIn(event.usage));
        break;
      case 'message_stop':
        this.#done = true;
        break;
    }
  }

  /** A proxy may repeat a start, which then adds nothing, or begin another message in its place. */
  #start(message: JsonObject): void {
    const usage = objectIn(message.usage);
    const id = textIn(message.id);
    const repeated = this.#usage !== null && id === this.#message;
    this.#message = id;
    this.#report = null;
    if (repeated) {
      this.#usage = foldUsage(usage ?? {}, this.#usage ?? {});
      return;
    }
    this.#usage = usage;
    this.#outputTold = false;
  }

  #tell(usage: JsonObject | null): void {
    if (usage === null) return;
    this.#usage = foldUsage(this.#usage ?? {}, usage);
    this.#outputTold ||= (usage.output_tokens ?? null) !== null;
    this.#report = null;
  }

  /** A message runs in one container, named at its start or its end. */
  #show(message: unknown): void {
    if (this.#container.length === 0) this.#container = containerIn(message);
  }

  shown(): readonly ShownResource[] {
    return this.#container;
  }

  report(): UsageReport | null {
    if (this.#report === null && this.#usage !== null) {
      const report = reportOf(this.#ask, this.#usage);
      this.#report = report && !this.#outputTold ? { ...report, outputOpen: true } : report;
    }
    return this.#report;
  }

  outputBytes(): number {
    return this.#outputBytes;
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
    return this.#gaveReason;
  }

  failed(): boolean {
    return this.#failed;
  }

  error(): unknown {
    return this.#error;
  }
}
