import {
  errorBody,
  type Refusal,
  Refused,
  reasonPhrase,
  refusal,
  shouldRetry,
  statusOf,
  unaccountable,
} from '#lib/core/errors';
import type { Call } from '#lib/gateway/flow/call/call';
import { endCall } from '#lib/gateway/flow/call/end-call';
import { CLIENT_GONE } from '#lib/gateway/flow/call/record';
import type { HeaderList } from '#lib/gateway/flow/lane';
import type { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import type { Runtime } from '#lib/gateway/flow/runtime';

/** The one error exit: every refusal and every unexpected error ends here (contract: request/error-shape). */
export function refuseCall(runtime: Runtime, call: Call, reply: LiveReply, error: unknown): SendLastByte {
  const refused = error instanceof Refused ? error.refusal : unexpected(runtime, call, error);
  call.outcome.refusal = refused;
  // A stream that began with a sign of life has its status.
  const status = reply.opened ? 200 : statusOf(refused);
  call.outcome.status = hasLeft(call, refused) ? CLIENT_GONE : status;
  endCall(call, { by: 'refusal' });
  call.arrival.body.drop();
  return () => send(call, refused, reply);
}

/** The client left before any answer: logged as 499, without an error (contract: call-log/gone-before-answer). */
function hasLeft(call: Call, refused: Refusal): boolean {
  return call.outcome.endReason === 'client_gone' && refused.code === 'upstream_request_failed';
}

/** The books could not be closed: an answer that has begun must not end as if it were whole. */
export function breakOff(call: Call, reply: LiveReply): void {
  if (reply.started()) {
    reply.cut();
    return;
  }
  send(call, call.outcome.refusal ?? unaccountable('could not account for the call'), reply);
}

function send(call: Call, refused: Refusal, reply: LiveReply): void {
  if (reply.opened) {
    const { code, message } = refused;
    reply.end(call.family?.breakFrame({ code, message }, 0, undefined) ?? undefined);
    return;
  }
  const text = errorBody(refused);
  const length = String(Buffer.byteLength(text));
  const headers = [...call.headers, ...refusalHeaders(refused), 'content-length', length];
  reply.start(statusOf(refused), headers, reasonPhrase(refused));
  reply.end(call.arrival.method === 'HEAD' ? undefined : text);
}

function refusalHeaders(refused: Refusal): HeaderList {
  const headers = ['content-type', 'application/json; charset=utf-8'];
  const retry = shouldRetry(refused);
  if (retry !== null) headers.push('x-should-retry', String(retry));
  if (refused.retryAfterSeconds !== undefined) headers.push('retry-after', String(refused.retryAfterSeconds));
  if (refused.allow !== undefined) headers.push('allow', refused.allow);
  return headers;
}

/** A fault of the gateway: written to the operator's log, never sent to the client. */
function unexpected(runtime: Runtime, call: Call, error: unknown): Refusal {
  runtime.report(error, call.id);
  endCall(call, { by: 'fault' });
  return refusal(
    'upstream_request_failed',
    'The request could not be completed; retry with backoff, and quote the request id if the problem persists.',
  );
}
