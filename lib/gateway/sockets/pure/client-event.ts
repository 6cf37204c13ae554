import {
  applyEdits,
  removeMembers,
  renameMember,
  replaceValue,
  setRootField,
} from '#lib/core/families/edits';
import type { Edit } from '#lib/core/families/family';
import type { FieldSpec, Found, Scan } from '#lib/core/families/scan';
import { invalidEvent, type SocketFault } from '#lib/gateway/sockets/pure/error-event';

/** What is read of a client's event. */
export const eventFields: FieldSpec = {
  type: {},
  stream: {},
  stream_id: {},
  generate: {},
  background: {},
  previous_response_id: {},
  store: {},
  input: { unread: true },
};

/** A request for a response (contract: sockets/one-call-each). */
export interface CreateEvent {
  readonly kind: 'create';
  /** Its `stream_id`; null: none. */
  readonly lane: string | null;
  /** `generate: false` (contract: sockets/warm-up). */
  readonly warmUp: boolean;
  /** The response that it continues. */
  readonly previous: string | null;
  /** Whether its provider stores the response. */
  readonly stored: boolean;
  readonly scan: Scan;
}

type ClientEvent = CreateEvent | { readonly kind: 'steer' } | { readonly kind: 'processed' };

/** Reads an event of a client. @returns what is wrong with it instead. */
export function readEvent(scan: Scan): ClientEvent | SocketFault {
  const type = scan.found.get('type')?.value;
  if (type === 'response.steer') return { kind: 'steer' };
  if (type === 'response.processed') return { kind: 'processed' };
  if (type !== 'response.create') {
    return invalidEvent('The event has no known "type"; send "response.create".', 'type');
  }
  const stream = scan.found.get('stream_id');
  if (stream && !(typeof stream.value === 'string' && /^[\w.-]{1,256}$/.test(stream.value))) {
    return {
      ...invalidEvent(
        'The field "stream_id" must be 1 to 256 letters, digits, underscores, hyphens and periods.',
        'stream_id',
      ),
      code: 'invalid_stream_id',
    };
  }
  const lane = stream ? String(stream.value) : null;
  const generate = scan.found.get('generate');
  if (generate && generate.type !== 'boolean') {
    return invalidEvent('The field "generate" must be true or false.', 'generate', lane);
  }
  if (scan.found.get('background')?.value === true) {
    return invalidEvent(
      'A response over a WebSocket cannot run in the background; leave out "background", or send it by HTTP POST.',
      'background',
      lane,
    );
  }
  const previous = scan.found.get('previous_response_id')?.value;
  return {
    kind: 'create',
    lane,
    warmUp: generate?.value === false,
    previous: typeof previous === 'string' ? previous : null,
    stored: scan.found.get('store')?.value !== false,
    scan,
  };
}

/**
 * The body of the call: the client's own bytes without what belongs to the event
 * (contract: sockets/one-call-each, sockets/continuation).
 * @param prior the items that come before its input, JSON without brackets; null: its `previous_response_id` stays.
 */
export function bodyOf({ scan }: CreateEvent, prior: string | null): Uint8Array {
  const type = scan.found.get('type');
  if (!type) throw new Error('an event has a type');
  const names = ['stream', 'stream_id', 'generate', ...(prior === null ? [] : ['previous_response_id'])];
  const gone = names.flatMap((name) => scan.found.get(name) ?? scan.nulls.get(name) ?? []);
  return applyEdits(scan.body, [
    renameMember(scan, type, 'stream'),
    replaceValue(type, 'true'),
    ...removeMembers(scan, gone),
    ...(prior === null ? [] : inputBehind(scan, prior)),
  ]);
}

function inputBehind(scan: Scan, prior: string): Edit[] {
  const input = scan.found.get('input');
  if (!input) return [setRootField(scan, 'input', `[${prior}]`)];
  if (input.type === 'string') return [replaceValue(input, `[${joined(prior, messageOf(scan, input))}]`)];
  if (input.type !== 'array' || prior === '') return [];
  const at = input.start + 1;
  return [{ start: at, end: at, text: input.empty ? prior : `${prior},` }];
}

/** The items of an event's input, JSON without brackets. */
export function inputItems(scan: Scan): string {
  const input = scan.found.get('input');
  if (input?.type === 'string') return messageOf(scan, input);
  return input?.type === 'array' ? insideOf(textAt(scan.body, input)) : '';
}

/** Lists of items, each JSON without brackets, as one. */
export function joined(...lists: readonly string[]): string {
  return lists.filter((items) => items !== '').join(',');
}

/** @param list the JSON of an array. */
export function insideOf(list: string): string {
  return list.slice(1, -1).trim();
}

function messageOf({ body }: Scan, input: Found): string {
  return `{"type":"message","role":"user","content":${textAt(body, input)}}`;
}

export function textAt(body: Uint8Array, { start, end }: Pick<Found, 'start' | 'end'>): string {
  return Buffer.from(body.buffer, body.byteOffset + start, end - start).toString('utf8');
}
