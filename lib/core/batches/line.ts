import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { Ask, Family, Operation } from '#lib/core/families/family';
import { familyOf } from '#lib/core/families/index';
import { match } from '#lib/core/families/match';
import { type FieldSpec, type Found, type Scan, type ScanFault, scan } from '#lib/core/families/scan';

/** The operations that lines of a file of requests may call (contract: batches/endpoints). */
const callableInFiles: ReadonlySet<string> = new Set([
  'chat.create',
  'responses.create',
  'completions.create',
  'embeddings.create',
  'moderations.create',
]);
/** What the requests of a batch of messages call (contract: batches/messages). */
const messagesEndpoint = '/v1/messages';

/** Longest `custom_id`, characters. */
const LONGEST_CUSTOM_ID = 256;

/** The operation of an endpoint that batches know; null: it is none of them. */
export function batchOperation(endpoint: string): Operation | null {
  const found = match('POST', endpoint);
  if (isRefusal(found)) return null;
  if (!callableInFiles.has(found.operation.name) && endpoint !== messagesEndpoint) return null;
  return endpoint === `/v1/${found.operation.path}` ? found.operation : null;
}

/** A line of a file of requests, or a request of a batch, as its endpoint's family reads it. */
export interface BatchLine {
  readonly customId: string;
  readonly endpoint: string;
  readonly family: Family;
  /** Its body by itself: positions are those in `body`. */
  readonly ask: Ask;
  /** Where its body is in the bytes that were read. */
  readonly start: number;
  readonly end: number;
}

const lineFields: FieldSpec = { custom_id: {}, method: {}, url: {}, body: {} };
const requestFields: FieldSpec = { custom_id: {}, params: {} };

/**
 * Reads one line: `custom_id`, `method`, `url`, and a body for that path (contract: batches/read). Pure.
 * @param bytes of the line, without its line end.
 */
export function readLine(bytes: Uint8Array): BatchLine | Refusal {
  const line = sound(scan(bytes, lineFields));
  if (isRefusal(line)) return line;
  const customId = customIdIn(line);
  if (typeof customId !== 'string') return customId;
  if (line.found.get('method')?.value !== 'POST') return invalid('Field "method" must be "POST".');
  const endpoint = line.found.get('url')?.value;
  const operation = typeof endpoint === 'string' ? batchOperation(endpoint) : null;
  if (typeof endpoint !== 'string' || !operation || !callableInFiles.has(operation.name)) {
    return invalid(
      'Field "url" must be one of /v1/chat/completions, /v1/responses, /v1/completions, /v1/embeddings, /v1/moderations.',
    );
  }
  const at = line.found.get('body');
  if (at?.type !== 'object') return invalid('Field "body" must be an object: the request itself.');
  return readAsked(bytes, at, { customId, endpoint, operation });
}

/**
 * Reads one request of a batch of messages: `custom_id`, and `params` that `/v1/messages` would take
 * (contract: batches/messages). Pure.
 * @param index its place, counted from 0. @returns a refusal that names it.
 */
export function readRequest(bytes: Uint8Array, index: number): BatchLine | Refusal {
  const request = sound(scan(bytes, requestFields));
  if (isRefusal(request)) return atRequest(index, null, request);
  const customId = customIdIn(request);
  if (typeof customId !== 'string') return atRequest(index, null, customId);
  const at = request.found.get('params');
  const operation = batchOperation(messagesEndpoint);
  if (!operation) throw new Error(`${messagesEndpoint} is an operation`);
  const read =
    at?.type === 'object'
      ? readAsked(bytes, at, { customId, endpoint: messagesEndpoint, operation })
      : invalid('Field "params" must be an object: the request itself.');
  return isRefusal(read) ? atRequest(index, customId, read) : read;
}

/** @returns the refusal of one that is missing or cannot be stored. */
function customIdIn({ found }: Scan): string | Refusal {
  const customId = found.get('custom_id')?.value;
  return typeof customId === 'string' && isCustomId(customId)
    ? customId
    : invalid(`Field "custom_id" must be a string of 1 to ${LONGEST_CUSTOM_ID} characters.`);
}

interface Called {
  readonly customId: string;
  readonly endpoint: string;
  readonly operation: Operation;
}

function readAsked(bytes: Uint8Array, { start, end }: Found, called: Called): BatchLine | Refusal {
  const { customId, endpoint, operation } = called;
  const body = sound(scan(bytes.subarray(start, end), operation.fields ?? {}));
  if (isRefusal(body)) return body;
  const family = familyOf(operation.family);
  if (!family) throw new Error(`${operation.name} belongs to no family`);
  const ask = family.readAsk({ operation, params: {}, scan: body });
  if (isRefusal(ask)) return ask;
  return misfit(ask) ?? { customId, endpoint, family, ask, start, end };
}

/** Whether the database can store it. */
export function isCustomId(text: string): boolean {
  return (
    text.length > 0 && text.length <= LONGEST_CUSTOM_ID && !text.includes('\u0000') && text.isWellFormed()
  );
}

/** What a single request may ask for, and a line of a batch may not; null: nothing. */
function misfit({ stream, job, nested, serviceTier, media, audio }: Ask): Refusal | null {
  if (stream) return invalid('A line of a batch cannot be streamed; leave "stream" out.');
  if (job) return invalid('A line of a batch cannot run in the background; leave "background" out.');
  if (nested && nested.length > 0) return invalid('A line of a batch cannot name further models.');
  if (media || audio) return invalid('A line of a batch can only make text and embeddings.');
  if (serviceTier === null || standardTiers.has(serviceTier)) return null;
  return invalid(
    'A line of a batch has no service tier, speed or region of its own; leave "service_tier", "speed" and "inference_geo" out.',
  );
}

/** Names of the tier that a request has which names none. */
const standardTiers: ReadonlySet<string> = new Set(['auto', 'default', 'standard_only']);

function sound(scanned: Scan | ScanFault): Scan | Refusal {
  return 'fault' in scanned ? invalid(scanned.fault) : scanned;
}

function invalid(message: string): Refusal {
  return refusal('invalid_body', message);
}

/** How the refusal of a line or a request names it (contract: batches/bad-line). */
export type NameLine = (refused: Refusal) => Refusal;

/** @param number counted from 1. */
export function atLine(number: number, refused: Refusal): Refusal {
  return { ...refused, message: `Line ${number} of the file: ${refused.message}` };
}

const LONGEST_SHOWN = 64;

/**
 * @param index counted from 0, as clients count them in their list.
 * @param customId null: it has none that could be read.
 */
export function atRequest(index: number, customId: string | null, refused: Refusal): Refusal {
  const shown = customId === null ? '' : ` (custom_id ${JSON.stringify(customId.slice(0, LONGEST_SHOWN))})`;
  return { ...refused, message: `"requests[${index}]"${shown}: ${refused.message}` };
}
