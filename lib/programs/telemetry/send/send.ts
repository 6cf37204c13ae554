import { gzipSync } from 'node:zlib';
import { Agent, request } from 'undici';
import type { TelemetrySettings } from '#lib/platform/env/telemetry-settings';
import { readAtMost } from '#lib/platform/read-at-most';
import { decodeAnswer, decodeRefusal } from '#lib/programs/telemetry/send/encode';
import { readRetryAfter } from '#lib/programs/telemetry/send/pace';

/** The outcome of a request. Messages are cleaned, and contain no values of headers. */
export type Outcome =
  /** `rejected` spans of it were not taken, and must not be sent again. */
  | { readonly kind: 'accepted'; readonly rejected: number; readonly message: string }
  /** It will never be accepted. */
  | { readonly kind: 'refused'; readonly tooLarge: boolean; readonly message: string }
  /** It may be accepted later; `askedMs`: when, if the collector says so. */
  | { readonly kind: 'later'; readonly askedMs: number | null; readonly message: string };

export interface Sender {
  /** @param stop cancels the request, which then counts as one to send again. */
  send(body: Uint8Array<ArrayBuffer>, stop?: AbortSignal): Promise<Outcome>;
  close(): Promise<void>;
}

/** The statuses that OTLP says to retry; every other status of 400 and above is final. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The most bytes of an answer that are read (OTLP: 4 MiB). */
const mostAnswerBytes = 4 * 1024 * 1024;
/** Shorter header values occur in any text. */
const shortestSecret = 6;

/** Sends requests to the collector, one connection kept alive. */
export function openSender(settings: TelemetrySettings): Sender {
  const { url, timeoutMs, gzip } = settings;
  const agent = new Agent({ connections: 1, pipelining: 1, connect: { timeout: timeoutMs } });
  const headers = {
    ...settings.headers,
    'content-type': 'application/x-protobuf',
    'user-agent': 'model-gateway-otlp',
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
  };
  const clean = cleaner(Object.values(settings.headers));

  async function send(body: Uint8Array<ArrayBuffer>, stop?: AbortSignal): Promise<Outcome> {
    const limit = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await request(url, {
        method: 'POST',
        headers,
        // Fast rather than small: attributes repeat in each span, so that a tenth is left in either case.
        body: gzip ? gzipSync(body, { level: 1 }) : Buffer.from(body),
        dispatcher: agent,
        signal: stop ? AbortSignal.any([limit, stop]) : limit,
      });
      const bytes = await readAtMost(answer.body, mostAnswerBytes);
      return outcomeOf(answer.statusCode, header(answer.headers['retry-after']), bytes);
    } catch (error) {
      const why = limit.aborted ? `no answer within ${timeoutMs} ms` : nameOf(error);
      return { kind: 'later', askedMs: null, message: clean(why) };
    }
  }

  function outcomeOf(status: number, retryAfter: string | undefined, bytes: Buffer | null): Outcome {
    if (status === 200 || status === 202 || status === 204) {
      const { rejected, message } = bytes ? readTaken(bytes) : { rejected: 0, message: '' };
      return { kind: 'accepted', rejected: Math.max(0, rejected), message: clean(message) };
    }
    const said = bytes ? decodeRefusal(bytes) : '';
    const message = clean(said === '' ? `status ${status}` : `status ${status}: ${said}`);
    if (!retryable.has(status)) return { kind: 'refused', tooLarge: status === 413, message };
    return { kind: 'later', askedMs: readRetryAfter(retryAfter, Date.now()), message };
  }

  return { send, close: () => agent.destroy() };
}

/** A 200 whose body is not an OTLP message says nothing about rejected spans. */
function readTaken(bytes: Buffer): ReturnType<typeof decodeAnswer> {
  try {
    return decodeAnswer(bytes);
  } catch {
    return { rejected: 0, message: '' };
  }
}

function header(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** Cleans untrusted text for the log: printable, short, and without values of our headers. */
function cleaner(secrets: readonly string[]): (text: string) => string {
  const found = secrets.flatMap((value) => [value, ...value.split(/\s+/)]);
  const hidden = found.filter((value) => value.length >= shortestSecret);
  return (text) => {
    let shown = text;
    for (const value of hidden) shown = shown.replaceAll(value, '***');
    return shown.replace(/[^\x20-\x7e]+/g, '?').slice(0, 300);
  };
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  return `${error.message || error.name}${code}`;
}
