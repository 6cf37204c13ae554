import type { ShownResource } from '#lib/core/facts/resource';
import type { Ask } from '#lib/core/families/family';
import { containerIn } from '#lib/core/families/messages/container';
import { madeFilesIn } from '#lib/core/families/messages/files';
import { blockBytes, blockSays, deltaBytes, deltaSays } from '#lib/core/families/messages/output';
import { foldUsage, reportOf } from '#lib/core/families/messages/usage';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { isError, type JsonObject, objectIn, parseJson, textIn } from '#lib/core/families/reading/json';
import type { UsageReport } from '#lib/core/metering/usage';

/** Reads a messages stream: usage is reported at the start, then overridden by each delta of the message. */
export class MessagesStream extends EventReader {
  /** The container that the message ran in, named at its start or its end, and the files that code made there. */
  shown: readonly ShownResource[] = [];
  readonly #ask: Ask;
  #container = false;
  #usage: JsonObject | null = null;
  /** Id of the message that the usage belongs to. */
  #message: string | null = null;
  /** A delta has reported the output: until then the start has only a few tokens of it. */
  #outputTold = false;
  /** Made when it is first needed, kept until newer usage arrives. */
  #report: UsageReport | null = null;

  constructor(ask: Ask) {
    super();
    this.#ask = ask;
  }

  override event(name: string | null, data: string): void {
    if (name === 'error') this.failed = true;
    const event = objectIn(parseJson(data));
    if (event !== null && isError(name, event)) this.fail(event.error ?? event);
    switch (event?.type) {
      case 'message_start':
        this.#show(event.message);
        this.#start(objectIn(event.message) ?? {});
        break;
      case 'content_block_start':
        this.outputBytes += blockBytes(objectIn(event.content_block) ?? {});
        this.#showFiles(event.content_block);
        if (blockSays(objectIn(event.content_block))) this.said += 1;
        break;
      case 'content_block_delta':
        this.outputBytes += deltaBytes(objectIn(event.delta) ?? {});
        if (deltaSays(objectIn(event.delta))) this.said += 1;
        break;
      case 'message_delta':
        this.#show(event.delta);
        this.gaveReason ||= textIn(objectIn(event.delta)?.stop_reason) !== null;
        this.#tell(objectIn(event.usage));
        break;
      case 'message_stop':
        this.end();
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

  #show(message: unknown): void {
    if (this.#container) return;
    const shown = containerIn(message);
    this.#container = shown.length > 0;
    if (this.#container) this.shown = [...this.shown, ...shown];
  }

  #showFiles(block: unknown): void {
    const made = madeFilesIn(block);
    if (made.length > 0) this.shown = [...this.shown, ...made];
  }

  override report(): UsageReport | null {
    if (this.#report === null && this.#usage !== null) {
      const report = reportOf(this.#ask, this.#usage);
      this.#report = report && !this.#outputTold ? { ...report, outputOpen: true } : report;
    }
    return this.#report;
  }
}
