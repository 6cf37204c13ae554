import { Transform, type TransformCallback } from 'node:stream';
import { EventStreamToSse } from '#lib/gateway/clouds/event-stream';
import type { Decoded } from '#lib/gateway/upstream/decode';
import { type HeaderBag, headerText } from '#lib/gateway/upstream/headers';

/** Longer bodies are not rewritten, bytes. */
const MOST_BYTES = 64 * 1024;

/**
 * Turns answers of a cloud to messages into those that Anthropic itself would have given
 * (contract: families/variants): Bedrock's streams and counts, and errors of both clouds.
 */
export function messagesDecoder(status: number, headers: HeaderBag): Decoded | null {
  const type = headerText(headers, 'content-type');
  const { 'content-length': _, 'content-encoding': coding, ...rest } = headers;
  if (coding !== undefined) return null;
  if (status < 300 && type.startsWith('application/vnd.amazon.eventstream')) {
    const made = { ...rest, 'content-type': 'text/event-stream; charset=utf-8' };
    return { decoder: new EventStreamToSse(), headers: made };
  }
  if (!type.startsWith('application/json')) return null;
  if (status >= 400) return { decoder: new Rewrite((json) => errorOf(status, json)), headers: rest };
  return null;
}

/** The answer to a count of Bedrock in Anthropic's form. */
export function countDecoder(status: number, headers: HeaderBag): Decoded | null {
  if (status >= 300) return messagesDecoder(status, headers);
  const { 'content-length': _, 'content-encoding': coding, ...rest } = headers;
  return coding === undefined ? { decoder: new Rewrite(countOf), headers: rest } : null;
}

/** Rewrites a short JSON body; what is not one, or needs no change (null), stays byte for byte. */
class Rewrite extends Transform {
  readonly #rewrite: (json: object) => object | null;
  #pieces: Buffer[] | null = [];
  #bytes = 0;

  constructor(rewrite: (json: object) => object | null) {
    super();
    this.#rewrite = rewrite;
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    this.#pieces?.push(chunk);
    if (this.#pieces === null) this.push(chunk);
    else if (this.#bytes > MOST_BYTES) {
      for (const piece of this.#pieces) this.push(piece);
      this.#pieces = null;
    }
    done();
  }

  override _flush(done: TransformCallback): void {
    if (this.#pieces !== null) {
      const body = Buffer.concat(this.#pieces);
      const made = rewritten(body, this.#rewrite);
      if (body.length > 0) this.push(made === null ? body : JSON.stringify(made));
    }
    done();
  }
}

function rewritten(body: Buffer, rewrite: (json: object) => object | null): object | null {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    return typeof json === 'object' && json !== null ? rewrite(json) : null;
  } catch {
    return null;
  }
}

/** Names of errors by status, as Anthropic gives them. */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** An error of AWS or Google as one of Anthropic; null: it is one. */
function errorOf(status: number, given: object): object | null {
  const json: object = Array.isArray(given) ? given[0] : given;
  if (typeof json !== 'object' || json === null || Reflect.get(json, 'type') === 'error') return null;
  const inner: unknown = Reflect.get(json, 'error');
  const source = typeof inner === 'object' && inner !== null ? inner : json;
  const message: unknown = Reflect.get(source, 'message') ?? Reflect.get(source, 'Message');
  if (typeof message !== 'string') return null;
  const type = errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { type, message } };
}

function countOf(json: object): object | null {
  const tokens: unknown = Reflect.get(json, 'inputTokens');
  return typeof tokens === 'number' ? { input_tokens: tokens } : null;
}
