import type { ErrorCode, Refused } from '#lib/core/errors';
import type { Meter } from '#lib/core/metering/meter';
import type { Tap } from '#lib/core/relay/tap';
import { faultOf } from '#lib/gateway/flow/attempt/fault-of';
import type { TranslatedCall } from '#lib/gateway/flow/attempt/translate-call';
import type { AnsweredCall } from '#lib/gateway/flow/call/call';
import { type AnswerSeen, chargeCall, chargeNothing, closedEarly } from '#lib/gateway/flow/call/charge-call';
import { endCall } from '#lib/gateway/flow/call/end-call';
import type { HeaderList, Reply } from '#lib/gateway/flow/lane';
import { observeAnswer } from '#lib/gateway/flow/observe-answer';
import { NotKept, type Recorder } from '#lib/gateway/flow/relay/recorder';
import type { Runtime } from '#lib/gateway/flow/runtime';
import {
  type Answer,
  errorBody,
  plainFailure,
  providerError,
  reportFault,
} from '#lib/gateway/upstream/attempt';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { UnusableAnswer } from '#lib/gateway/upstream/exchange-faults';
import { failureName, isOwnClosing } from '#lib/gateway/upstream/pure/classify';

/** What is left to send once the books are closed: the last byte. */
export type SendLastByte = (reply: Reply) => void;

/** One answer, and everything that takes part in relaying it. */
export interface RelayParts {
  readonly runtime: Runtime;
  readonly call: AnsweredCall;
  readonly exchange: Exchange;
  /** Whose bytes these are, and how its attempt went so far. */
  readonly answer: Answer;
  /** The answer's way into the client's protocol; absent: it is in that already. */
  readonly translated?: TranslatedCall | null;
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
 * The answer has ended: writes into the call how, and what it costs.
 * @param error why it broke off; null: the provider ended it.
 */
export function settleCall(parts: RelayParts, error: Error | null): void {
  const { call, runtime, meter, exchange, answer } = parts;
  const failure = failureOf(parts, error);
  call.outcome.whole = error === null && failure === null && !isTheirFault(answer);
  if (error === null) endCall(call, { by: 'answer', failed: !call.outcome.whole });
  else endCall(call, { by: 'failure', name: failure ?? '' });
  reportEnd(parts, error, failure);
  call.outcome.upstreamMs = runtime.clock.mono() - call.startMono - call.outcome.leadMs;
  chargeCall(call, meter, seenOf(parts, error));
  if (error === null) observeAnswer(runtime, call, exchange);
}

/** An error answer that the client did not cause. */
function isTheirFault({ fault }: Answer): boolean {
  return fault !== null && fault.whose !== 'client';
}

/** Why an answer failed, as the attempts in the call log name it; null: it did not. */
function failureOf({ call, answer: { reading } }: RelayParts, error: Error | null): string | null {
  if (error !== null) return failureName(error);
  // What a provider keeps may be a job or a response that failed: to read that is not a failure.
  const judged = call.operation.steps === 'generate' || reading?.framing === 'events';
  const state = judged ? reading?.meter.state() : undefined;
  return state === 'empty' || state === 'error' ? failureName(new UnusableAnswer(state)) : null;
}

/**
 * Reports to the health of the offer and to the call's record of the attempt how the answer ended
 * (contract: routing/health-at-the-end). What the client or the gateway itself ended says nothing about the offer.
 */
function reportEnd(
  { runtime, call, answer, exchange, translated }: RelayParts,
  error: Error | null,
  failure: string | null,
): void {
  const { running, reading, place, beganMono } = answer;
  const attempt = call.outcome.attempts[place];
  const ours = error instanceof HoldExhausted || error instanceof NotKept;
  const fault =
    failure === 'error_in_answer'
      ? faultOf(translated?.sent ?? call, answer.target, null, errorBody(reading))
      : null;
  if (attempt && failure !== null && attempt.error === null && failure !== 'client_gone' && !ours) {
    call.outcome.attempts[place] = { ...attempt, error: failure, ...providerError(fault) };
  }
  if (running === null) return;
  const nowMs = runtime.clock.now();
  const { offerFaults } = runtime;
  const { offer: at, model, credential } = call.target;
  const offer = { provider: at.provider.id, model: model.id, credential: credential.name };
  if (ours || (call.outcome.gone && !call.outcome.delivered)) running.abandoned(nowMs);
  else if (failure === null || failure === 'client_gone') {
    const firstByteMs = (exchange.readyMono ?? beganMono) - beganMono;
    running.succeeded(firstByteMs, call.ask.stream, nowMs);
    offerFaults.answered(offer);
  } else if (fault !== null) {
    reportFault(running, fault, exchange, nowMs);
    offerFaults.failed({ ...offer, callId: call.id, status: exchange.status, fault });
  } else running.failed(plainFailure(exchange, failure), nowMs);
}

function seenOf(parts: RelayParts, error: Error | null): AnswerSeen {
  const { runtime, call, exchange, meter } = parts;
  if (error === null) return meter?.state() === 'empty' ? { end: 'broken' } : { end: 'ended' };
  const own = error instanceof HoldExhausted || isOwnClosing(failureName(error));
  return own ? closedEarly(runtime, call, exchange) : { end: 'broken' };
}

/** The client gets a refusal instead of the answer: what was not delivered is not charged. */
export function withhold(parts: RelayParts, error: Refused): void {
  parts.answer.running?.abandoned(parts.runtime.clock.now());
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

/** The end of a stream that broke off, in the client's protocol; null: the connection is cut instead. */
export function breakFrame({ call, meter, translated }: RelayParts, error: Error): string | null {
  const notice = brokenNotice(error);
  if (translated) return translated.answer.breakOff(notice.message);
  return call.family.breakFrame(notice, meter?.events ?? 0, meter?.answer);
}
