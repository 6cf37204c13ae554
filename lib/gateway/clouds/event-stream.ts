import { Transform, type TransformCallback } from 'node:stream';
import type { EventStreamCodec } from '@smithy/core/event-streams';
import { memberOf } from '#lib/core/families/reading/json';

/** Longest message of an event stream that is taken, bytes: AWS allows payloads of 16 MiB. */
const MOST_BYTES = 17 * 1024 * 1024;
/** The shortest: two lengths and two checksums. */
const LEAST_BYTES = 16;

/** An event stream that is damaged. */
class BadEventStream extends Error {
  /** As `failureName` reads it. */
  readonly code = 'BAD_EVENT_STREAM';
}

let loaded: EventStreamCodec | null = null;

/** Loads the library that reads event streams, before the first one comes. */
export async function loadEventStreams(): Promise<void> {
  if (loaded !== null) return;
  const { EventStreamCodec } = await import('@smithy/core/event-streams');
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  loaded = new EventStreamCodec(
    (bytes) => (typeof bytes === 'string' ? bytes : decoder.decode(bytes)),
    (text) => encoder.encode(text),
  );
}

/**
 * Turns the binary event stream of Amazon Bedrock into the events that Anthropic itself would have sent
 * (contract: families/bedrock-stream). What breaks off in the middle of a message ends without it.
 */
export class EventStreamToSse extends Transform {
  readonly #codec: EventStreamCodec;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor() {
    super();
    if (loaded === null) throw new Error('loadEventStreams was not called');
    this.#codec = loaded;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    try {
      this.#take();
    } catch (error) {
      done(error instanceof BadEventStream ? error : new BadEventStream('a message cannot be read'));
      return;
    }
    done();
  }

  #take(): void {
    while (this.#bytes >= LEAST_BYTES) {
      const length = this.#first(4).readUInt32BE(0);
      if (length < LEAST_BYTES || length > MOST_BYTES)
        throw new BadEventStream('a message has a wrong length');
      if (this.#bytes < length) return;
      const all = this.#first(this.#bytes);
      const message = this.#codec.decode(all.subarray(0, length));
      this.#pieces = length < all.length ? [all.subarray(length)] : [];
      this.#bytes = all.length - length;
      const text = eventOf(message);
      if (text !== null) this.push(text);
    }
  }

  /** The first bytes as one buffer, so that pieces are joined once and not with each that comes. */
  #first(bytes: number): Buffer {
    const [first] = this.#pieces;
    if (first !== undefined && first.length >= bytes) return first;
    const joined = Buffer.concat(this.#pieces);
    this.#pieces = [joined];
    return joined;
  }
}

type Decoded = ReturnType<EventStreamCodec['decode']>;

/** A message as an event; null: it says nothing to a client. */
function eventOf({ headers, body }: Decoded): string | null {
  const kind = textOf(headers[':message-type']);
  const payload = parsed(new TextDecoder().decode(body));
  if (kind === 'exception' || kind === 'error') {
    const name = textOf(headers[':exception-type']) ?? textOf(headers[':error-code']) ?? '';
    const said = memberOf(payload, 'message') ?? textOf(headers[':error-message']);
    const error = { type: errorTypeOf(name), message: typeof said === 'string' ? said : name };
    return sse('error', JSON.stringify({ type: 'error', error }));
  }
  const bytes = memberOf(payload, 'bytes');
  if (typeof bytes !== 'string') return null;
  const data = Buffer.from(bytes, 'base64').toString('utf8');
  const event = parsed(data);
  const type = memberOf(event, 'type');
  if (typeof type !== 'string' || /[\r\n]/.test(type)) return null;
  // Bedrock's own figures: usage is in the events that are Anthropic's.
  const metrics = memberOf(event, 'amazon-bedrock-invocationMetrics') !== undefined;
  if (!metrics && !/[\r\n]/.test(data)) return sse(type, data);
  const { 'amazon-bedrock-invocationMetrics': _, ...own } = event as Record<string, unknown>;
  return sse(type, JSON.stringify(own));
}

function sse(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}

/** Exceptions of Bedrock's streams by the name that Anthropic gives to such an error. */
const errorTypes: Readonly<Record<string, string>> = {
  throttlingException: 'rate_limit_error',
  validationException: 'invalid_request_error',
  serviceUnavailableException: 'overloaded_error',
  modelTimeoutException: 'timeout_error',
};

function errorTypeOf(name: string): string {
  return errorTypes[name.charAt(0).toLowerCase() + name.slice(1)] ?? 'api_error';
}

function textOf(header: Decoded['headers'][string] | undefined): string | null {
  return header?.type === 'string' ? header.value : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
