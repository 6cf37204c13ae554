import type { ErrorCode, Refused } from '#lib/errors';
import type { Fault } from '#lib/families/reading/fault';
import type { AnsweredCall } from '#lib/gateway/call/call';
import { chargeCall, chargeNothing, type Seen } from '#lib/gateway/call/charge-call';
import { endCall } from '#lib/gateway/call/end-call';
import type { HeaderList, Reply } from '#lib/gateway/lane';
import { observeAnswer } from '#lib/gateway/observe-answer';
import { NotKept, type Recorder } from '#lib/gateway/relay/recorder';
import { closedEarly } from '#lib/gateway/relay/unread';
import type { Runtime } from '#lib/gateway/runtime';
import type { Meter } from '#lib/metering/meter';
import type { Tap } from '#lib/relay/tap';
import { failureName, isOwnClosing } from '#lib/upstream/classify';
import type { Exchange } from '#lib/upstream/exchange';

/** What is left to send once the books are closed: the last byte. */
export type SendLastByte = (reply: Reply) => void;

/** One answer, and everything that takes part in relaying it. */
export interface RelayParts {
  readonly runtime: Runtime;
  readonly call: AnsweredCall;
  readonly exchange: Exchange;
  /** Whose fault the answer is, where it is an error; null: it is none. */
  readonly fault: Fault | null;
  readonly meter: Meter | null;
  readonly tap: Tap;
  /** null: the answer shows nothing that must be kept. */
  readonly recorder: Recorder | null;
  readonly reply: Reply;
  readonly headers: HeaderList;
  readonly resolve: (sendLastByte: SendLastByte) => void;
  /** Nothing of the answer may go to the client: it gets a refusal instead. */
  readonly reject: (error: Error) => void;
}

/** A strict workspace's hold could not grow with the stream (contract: money/strict). */
export class HoldExhausted extends Error {}

/** Sends a piece; a client that is slower than the provider makes it wait. @returns false when it does. */
export function sendPiece({ reply, exchange }: RelayParts, piece: Uint8Array): boolean {
  if (reply.write(piece)) return true;
  exchange.pause();
  reply.onDrain(() => exchange.resume());
  return false;
}

/**
 * The answer has ended: the call learns how, and what it costs.
 * @param error why it broke off; null: the provider ended it.
 */
export function settleCall(parts: RelayParts, error: Error | null): void {
  const { call, runtime, meter, tap, exchange, fault } = parts;
  const failed = tap.failed() || (fault !== null && fault.whose !== 'client');
  if (error === null) endCall(call, { by: 'answer', failed });
  else endCall(call, { by: 'failure', name: failureName(error) });
  call.upstreamMs = runtime.clock.mono() - call.startMono - call.leadMs;
  chargeCall(call, meter, seenOf(parts, error));
  if (error === null) observeAnswer(runtime, call, exchange);
}

function seenOf({ runtime, call, exchange }: RelayParts, error: Error | null): Seen {
  if (error === null) return { end: 'ended' };
  const own = error instanceof HoldExhausted || isOwnClosing(failureName(error));
  return own ? closedEarly(runtime, call, exchange) : { end: 'broken' };
}

/** The client gets a refusal instead of the answer: what was not given is not charged. */
export function withhold(parts: RelayParts, error: Refused): void {
  chargeNothing(parts.call);
  parts.reject(error);
}

/** The error that ends a broken stream, in families that have an event for it (contract: routing/broken-stream). */
export function brokenNotice(error: Error): { readonly code: ErrorCode; readonly message: string } {
  if (error instanceof HoldExhausted) {
    return {
      code: 'insufficient_balance',
      message: 'The balance does not cover the rest of this answer; add funds.',
    };
  }
  if (error instanceof NotKept) return error.refusal;
  return {
    code: 'upstream_request_failed',
    message: `The provider's answer broke off (${failureName(error)}); retry, and quote the request id if the problem persists.`,
  };
}
