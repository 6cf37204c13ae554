import { createParser, type EventSourceParser } from 'eventsource-parser';
import type { HeaderList, Reply } from '#lib/gateway/flow/lane';
import type { Connection } from '#lib/gateway/sockets/connection';
import {
  type EndedResponse,
  endedIn,
  endsResponse,
  frameOf,
  typeOf,
} from '#lib/gateway/sockets/pure/answer-end';
import type { CreateEvent } from '#lib/gateway/sockets/pure/client-event';
import { errorEvent } from '#lib/gateway/sockets/pure/error-event';

/** Characters that an event may have before its stream is given up. */
const MOST_EVENT = 64 * 1024 * 1024;
/** Bytes of an answer that is not a stream. */
const MOST_WHOLE_BYTES = 1024 * 1024;

/** Sends the answer of one call as events of its connection (contract: sockets/one-call-each). */
export class FrameReply implements Reply {
  readonly #connection: Connection;
  readonly #event: Pick<CreateEvent, 'lane' | 'previous'>;
  readonly #decoder = new TextDecoder();
  #parser: EventSourceParser | null = null;
  #stopListening: () => void = () => {};
  #status = 0;
  #headers: HeaderList = [];
  #whole: Uint8Array[] = [];
  #wholeBytes = 0;
  #over = false;
  #overflowed = false;
  #ended: EndedResponse | null = null;

  constructor(connection: Connection, event: Pick<CreateEvent, 'lane' | 'previous'>) {
    this.#connection = connection;
    this.#event = event;
  }

  /** The response, if it ended well. */
  get ended(): EndedResponse | null {
    return this.#ended;
  }

  start(status: number, headers: HeaderList): void {
    this.#status = status;
    this.#headers = headers;
    const type = headers[headers.findIndex((text, at) => at % 2 === 0 && text === 'content-type') + 1] ?? '';
    if (status !== 200 || !/^text\/event-stream\b/i.test(type)) return;
    this.#parser = createParser({
      maxBufferSize: MOST_EVENT,
      onEvent: ({ event, data }) => this.#say(event, data),
      onError: ({ type: fault }) => {
        this.#overflowed ||= fault === 'max-buffer-size-exceeded';
      },
    });
  }

  started(): boolean {
    return this.#status !== 0;
  }

  write(chunk: Uint8Array): boolean {
    if (this.#parser) {
      if (!this.#overflowed) this.#parser.feed(this.#decoder.decode(chunk, { stream: true }));
    } else if (this.#wholeBytes < MOST_WHOLE_BYTES) {
      this.#wholeBytes += chunk.length;
      this.#whole.push(chunk);
    }
    return this.#connection.keepsUp;
  }

  onDrain(listener: () => void): void {
    this.#stopListening();
    this.#stopListening = this.#connection.onDrain(listener);
  }

  end(last?: Uint8Array | string): void {
    if (last !== undefined) this.write(typeof last === 'string' ? Buffer.from(last) : last);
    // An event whose blank line is missing is complete at the end.
    this.#parser?.feed(`${this.#decoder.decode()}\n\n`);
    this.#finish();
  }

  cut(): void {
    this.#finish();
  }

  #say(name: string | undefined, data: string): void {
    if (this.#over || data === '[DONE]') return;
    const type = typeOf(name, data);
    if (endsResponse(type)) {
      this.#over = true;
      this.#ended = endedIn(type, data);
    }
    this.#connection.send(frameOf(data, this.#event.lane));
  }

  /** What did not end as a response ends with an error. */
  #finish(): void {
    this.#stopListening();
    if (this.#over) return;
    this.#over = true;
    const refused = this.#parser === null && this.#status >= 400;
    const body = refused ? Buffer.concat(this.#whole).toString('utf8') : BROKEN;
    this.#connection.send(
      errorEvent({
        ...this.#event,
        status: refused ? this.#status : 502,
        headers: this.#headers,
        body,
      }),
    );
  }
}

const BROKEN = JSON.stringify({
  error: {
    code: 'upstream_request_failed',
    message: "The provider's answer broke off before its end; retry.",
  },
});
