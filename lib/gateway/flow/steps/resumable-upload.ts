import { Refused, refusal } from '#lib/core/errors';
import type { GivenAnswer } from '#lib/gateway/flow/attempt/try-targets';
import { type ClaimedCall, extendCall, type FamilyCall, type MatchedCall } from '#lib/gateway/flow/call/call';
import { readCredential } from '#lib/gateway/flow/credentials';
import type { Arrival } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { invalidBody } from '#lib/gateway/flow/upload/body-faults';
import { lengthIn } from '#lib/gateway/flow/upload/request-body';
import type { UploadTicket } from '#lib/gateway/flow/upload/ticket';
import { headerText } from '#lib/gateway/upstream/headers';

const commands: ReadonlySet<string> = new Set(['upload', 'finalize', 'upload,finalize', 'query', 'cancel']);
/** Of the provider's address of an upload: it is sealed in ours, which is a header. */
const MOST_PATH = 2_048;

/** Reads the address of an upload that a part is sent to: its key is used if the request has none. */
export function withTicket(runtime: Runtime, call: MatchedCall): MatchedCall {
  if (call.operation.resumable !== 'part') return call;
  const text = new URLSearchParams(call.query).get('upload_id') ?? '';
  return extendCall(call, { ticket: runtime.uploadTickets?.open(text, runtime.clock.now()) ?? null });
}

/**
 * The size that a new upload announces, bytes: room is taken for it, and no more is let through.
 * @throws Refused `invalid_body` without it, or for an upload of another kind.
 */
export function announcedBytes({ headers }: Pick<Arrival, 'headers'>): number {
  const protocol = headers['x-goog-upload-protocol']?.trim().toLowerCase();
  const command = headers['x-goog-upload-command']?.trim().toLowerCase();
  if (protocol !== 'resumable' || command !== 'start') {
    throw invalidBody(
      'Files are uploaded in parts; send X-Goog-Upload-Protocol: resumable and X-Goog-Upload-Command: start, as the SDKs do.',
    );
  }
  const bytes = lengthIn(headers['x-goog-upload-header-content-length']?.trim() ?? '');
  if (bytes === null || bytes === 0) {
    throw invalidBody(
      'The header X-Goog-Upload-Header-Content-Length must be the size of the file in bytes, at least 1.',
    );
  }
  return bytes;
}

/**
 * Binds a part to the provider and the credential that its upload began with.
 * @throws Refused `not_found` for an address that is over, or another workspace's; `invalid_body` for what is no part.
 */
export function bindPart(call: FamilyCall): FamilyCall {
  const { ticket, snapshot, params } = call;
  if (!ticket || ticket.workspaceId !== snapshot.workspace.id) {
    throw new Refused(
      refusal(
        'not_found',
        'This workspace has no such upload, or it began over an hour ago; begin it again with POST /upload/v1beta/files.',
      ),
    );
  }
  leftBytes(call.arrival, ticket);
  return extendCall(call, { pinned: ticket, params: { ...params, upload: ticket.path } });
}

/**
 * How many bytes a part may have, so that all parts have at most the announced size.
 * @throws Refused `invalid_body`.
 */
export function leftBytes({ headers }: Pick<Arrival, 'headers'>, { bytes }: UploadTicket): number {
  const asked = commandsIn(headers);
  if (!commands.has(asked.join())) {
    throw invalidBody(
      'The header X-Goog-Upload-Command must be "upload", "finalize", "upload, finalize", "query" or "cancel".',
    );
  }
  if (!asked.includes('upload')) return 0;
  const offset = lengthIn(headers['x-goog-upload-offset']?.trim() ?? '');
  if (offset === null) throw invalidBody('The header X-Goog-Upload-Offset must say where the part begins.');
  const left = bytes - offset;
  if (left >= (lengthIn(headers['content-length'] ?? '') ?? 0)) return left;
  throw invalidBody(
    `The file was announced with ${bytes} bytes, which this part exceeds; send no more, or begin the upload again.`,
  );
}

/** The upload was given up: it stores nothing. */
export function isCancelled({ arrival: { headers }, ticket }: ClaimedCall, given: GivenAnswer): boolean {
  return ticket !== null && given.exchange.status < 300 && commandsIn(headers).includes('cancel');
}

function commandsIn(headers: Arrival['headers']): readonly string[] {
  const value = headers['x-goog-upload-command'] ?? '';
  return value
    .toLowerCase()
    .split(',')
    .flatMap((one) => one.trim() || []);
}

/**
 * Gives the client an address of the gateway for the parts, instead of the provider's own. Of that, only path and query
 * count: parts go to the provider's address in the catalogue, whatever host it names.
 * @throws Refused `upstream_request_failed` when the provider gave none.
 */
export function giveAddress(runtime: Runtime, call: ClaimedCall, given: GivenAnswer): void {
  const { exchange, target } = given;
  if (exchange.status < 200 || exchange.status >= 300) return;
  const url = URL.parse(headerText(exchange.headers, 'x-goog-upload-url'));
  const path = url && `${url.pathname}${url.search}`;
  const sent = readCredential({ headers: call.arrival.headers, query: call.query });
  if (!path || path.length > MOST_PATH || !runtime.uploadTickets || !('secret' in sent)) {
    given.running?.abandoned(runtime.clock.now());
    exchange.abort(new Error('the provider gave no address for the upload'));
    throw new Refused(
      refusal(
        'upstream_request_failed',
        'The provider gave no address to which the file could be uploaded; retry with backoff.',
      ),
    );
  }
  const id = runtime.uploadTickets.seal(
    {
      secret: sent.secret,
      workspaceId: call.snapshot.workspace.id,
      callId: call.id,
      providerId: target.offer.provider.id,
      credential: target.credential.name,
      path,
      bytes: announcedBytes(call.arrival),
    },
    runtime.clock.now(),
  );
  call.headers.push('x-goog-upload-url', `${addressOf(runtime, call.arrival)}?upload_id=${id}`);
}

/** The address that the client has called, as far as it is known here: the host that it names, and its path. */
function addressOf({ secure }: Runtime, { headers, target }: Arrival): string {
  const first = (text: string | undefined) => text?.split(',', 1)[0]?.trim();
  const scheme = first(headers['x-forwarded-proto'])?.toLowerCase() ?? (secure ? 'https' : 'http');
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? 'localhost';
  return `${scheme === 'https' ? 'https' : 'http'}://${host}${target.split('?', 1)[0]}`;
}
