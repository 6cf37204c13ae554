import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { Ask, Family, Operation } from '#lib/core/families/family';
import { familyOf } from '#lib/core/families/index';
import { match } from '#lib/core/families/match';
import { type FieldSpec, type Scan, type ScanFault, scan } from '#lib/core/families/scan';

/** The operations that lines of a file of requests may call (contract: batches/endpoints). */
const callable: ReadonlySet<string> = new Set([
  'chat.create',
  'responses.create',
  'completions.create',
  'embeddings.create',
  'moderations.create',
]);

/** Longest `custom_id`, characters. */
const LONGEST_CUSTOM_ID = 256;

/** The operation of an endpoint that batches know; null: it is none of them. */
export function batchOperation(endpoint: string): Operation | null {
  const found = match('POST', endpoint);
  if (isRefusal(found) || !callable.has(found.operation.name)) return null;
  return endpoint === `/v1/${found.operation.path}` ? found.operation : null;
}

/** A line of a file of requests, as its endpoint's family reads it. */
export interface BatchLine {
  readonly customId: string;
  readonly endpoint: string;
  readonly family: Family;
  /** Its body by itself: positions are those in `body`. */
  readonly ask: Ask;
  /** Where the body is in the line, bytes. */
  readonly start: number;
  readonly end: number;
}

const lineFields: FieldSpec = { custom_id: {}, method: {}, url: {}, body: {} };

/**
 * Reads one line: `custom_id`, `method`, `url`, and a body for that path (contract: batches/read). Pure.
 * @param bytes of the line, without its line end.
 */
export function readLine(bytes: Uint8Array): BatchLine | Refusal {
  const line = sound(scan(bytes, lineFields));
  if (isRefusal(line)) return line;
  const customId = line.found.get('custom_id')?.value;
  if (typeof customId !== 'string' || !isCustomId(customId)) {
    return invalid(`Field "custom_id" must be a string of 1 to ${LONGEST_CUSTOM_ID} characters.`);
  }
  if (line.found.get('method')?.value !== 'POST') return invalid('Field "method" must be "POST".');
  const endpoint = line.found.get('url')?.value;
  const operation = typeof endpoint === 'string' ? batchOperation(endpoint) : null;
  if (typeof endpoint !== 'string' || operation === null) {
    return invalid(
      'Field "url" must be one of /v1/chat/completions, /v1/responses, /v1/completions, /v1/embeddings, /v1/moderations.',
    );
  }
  const at = line.found.get('body');
  if (at?.type !== 'object') return invalid('Field "body" must be an object: the request itself.');
  const body = sound(scan(bytes.subarray(at.start, at.end), operation.fields ?? {}));
  if (isRefusal(body)) return body;
  const family = familyOf(operation.family);
  if (!family) throw new Error(`${operation.name} belongs to no family`);
  const ask = family.readAsk({ operation, params: {}, scan: body });
  if (isRefusal(ask)) return ask;
  return misfit(ask) ?? { customId, endpoint, family, ask, start: at.start, end: at.end };
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
  const standard = serviceTier === null || serviceTier === 'auto' || serviceTier === 'default';
  return standard ? null : invalid('A line of a batch has no service tier; leave "service_tier" out.');
}

function sound(scanned: Scan | ScanFault): Scan | Refusal {
  return 'fault' in scanned ? invalid(scanned.fault) : scanned;
}

function invalid(message: string): Refusal {
  return refusal('invalid_body', message);
}

/** The refusal of a line, which names it (contract: batches/bad-line). */
export function atLine(number: number, refused: Refusal): Refusal {
  return { ...refused, message: `Line ${number} of the file: ${refused.message}` };
}
