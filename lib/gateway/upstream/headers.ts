import { maskCredential } from '#lib/core/relay/credential-mask';
import { fingerprint } from '#lib/platform/secrets';

/**
 * Request headers that travel upstream (contract: body/headers); everything else stays here, credentials above all
 * (contract: authentication/credentials-stay).
 */
const upstreamHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'accept',
  'user-agent',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'x-goog-api-client',
  'traceparent',
  'range',
  'idempotency-key',
]);

/**
 * Answer headers that reach the client: an allow-list, because a provider can echo the operator's credential
 * (contract: request/answer-headers).
 */
const clientHeaders = new Set([
  'content-type',
  'content-disposition',
  'content-length',
  // `identity` was requested; any other answer must at least be readable.
  'content-encoding',
  'cache-control',
  'retry-after',
  'retry-after-ms',
  'x-should-retry',
  'openai-processing-ms',
  'openai-version',
  'openai-model',
  'x-gemini-service-tier',
  'x-goog-upload-status',
  'x-goog-upload-size-received',
  'x-goog-upload-chunk-granularity',
  'x-goog-hash',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
  'x-accel-buffering',
]);

/** Headers of the `x-stainless-*` and `if-*` kinds; SDKs send about ten, a flood would be refused upstream. */
const MOST_MORE = 32;

export type HeaderBag = Readonly<Record<string, string | string[] | undefined>>;

/** The first value of a header; empty: it has none. */
export function headerText(headers: HeaderBag, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

/** What decides the headers of an attempt in addition to those of the client. */
interface AttemptFacts {
  /** Name and value of the header by which the operator pays; null: the request is signed. */
  readonly credential: readonly [string, string] | null;
  /**
   * JSON is sent as JSON whatever the client called it, a form with the client's own boundary
   * (contract: body/content-type); with requests for content, the client's conditions and ranges are sent too.
   */
  readonly body: 'json' | 'form' | 'none' | 'content';
  /** Values of `anthropic-beta` that stay here. */
  readonly denyBetas: readonly string[];
  /** It belongs to an upload in parts: its `x-goog-upload-*` headers say which part it is. */
  readonly resumable?: boolean;
  /** Headers that its address does not take; absent: none. */
  readonly without?: (name: string) => boolean;
  /**
   * Whose idempotency keys these are: all workspaces share the operator's account, where one's key must never find
   * another's answer.
   */
  readonly workspaceId: string;
}

/**
 * The headers of an attempt, as undici's flat list.
 * @param client the client's headers, lower case.
 */
export function headersToProvider(
  client: HeaderBag,
  { credential, body, denyBetas, workspaceId, resumable, without }: AttemptFacts,
): string[] {
  const list: string[] = ['accept-encoding', 'identity'];
  if (credential !== null) list.push(credential[0], credential[1]);
  let room = MOST_MORE;
  for (const name in client) {
    const value = client[name];
    if (typeof value !== 'string') continue;
    if (!upstreamHeaders.has(name)) {
      const more =
        name.startsWith('x-stainless-') ||
        (body === 'content' && name.startsWith('if-')) ||
        (resumable && name.startsWith('x-goog-upload-'));
      if (more && room-- > 0) list.push(name, value);
      continue;
    }
    // Only content can be asked for in ranges (contract: body/headers).
    if (body !== 'content' && name === 'range') continue;
    if (body !== 'form' && name === 'content-type') continue;
    if (without?.(name)) continue;
    if (name === 'idempotency-key') {
      list.push(name, fingerprint(`${workspaceId} ${value}`));
      continue;
    }
    if (name === 'anthropic-beta' && denyBetas.length > 0) {
      const kept = allowedBetas(value, denyBetas);
      if (kept !== '') list.push(name, kept);
      continue;
    }
    list.push(name, value);
  }
  if (body === 'json') list.push('content-type', 'application/json');
  return list;
}

/** A value of `anthropic-beta` without those that stay here; empty: none is left. */
export function allowedBetas(value: string, denyBetas: readonly string[]): string {
  return value
    .split(',')
    .filter((beta) => !denyBetas.includes(beta.trim()))
    .join(',');
}

/** The headers that may be sent to an origin other than the provider's: no credential, nothing about an account. */
export function headersElsewhere(list: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at + 1 < list.length; at += 2) {
    const [name = '', value = ''] = list.slice(at, at + 2);
    if (/^(accept|accept-encoding|user-agent|range|if-.*)$/.test(name)) kept.push(name, value);
  }
  return kept;
}

/**
 * The provider's answer headers that are sent to the client, as a flat list.
 * @param streamed its length is not known before the end then, since an event may be removed and an error
 * may be added; and the gateway decides how it is buffered.
 * @param credential that was sent: overwritten wherever a value contains it.
 */
export function headersToClient(provider: HeaderBag, streamed: boolean, credential: string): string[] {
  const kept: string[] = [];
  for (const name in provider) {
    if (!clientHeaders.has(name)) continue;
    if (streamed && (name === 'content-length' || name === 'x-accel-buffering')) continue;
    const value = provider[name];
    const first = typeof value === 'string' ? value : value?.[0];
    if (first !== undefined) kept.push(name, maskCredential(first, credential));
  }
  return kept;
}

/**
 * The provider's own id of the request, whatever it calls it; never our credential, should it echo that
 * (contract: request/upstream-request-id).
 */
export function providerRequestId(provider: HeaderBag, credential: string): string | null {
  const value =
    provider['x-request-id'] ??
    provider['request-id'] ??
    provider['x-goog-request-id'] ??
    provider['x-amzn-requestid'];
  if (typeof value !== 'string' || !/^[\x21-\x7e]{1,256}$/.test(value)) return null;
  return value.includes(credential) ? null : value;
}

/** A 429's or 503's `retry-after` (or `retry-after-ms`) as ms; null when absent or unusable. */
export function retryAfterMs(provider: HeaderBag, nowMs: number): number | null {
  const exact = provider['retry-after-ms'];
  if (typeof exact === 'string' && /^\d{1,9}$/.test(exact)) return Number(exact);
  const value = provider['retry-after'];
  if (typeof value !== 'string') return null;
  if (/^\d{1,7}(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}
