import { type Framing, framingOf } from '#lib/core/relay/framing';
import { Tap } from '#lib/core/relay/tap';
import { type AnsweredCall, type ClaimedCall, extendCall } from '#lib/gateway/flow/call/call';
import type { HeaderList, Reply } from '#lib/gateway/flow/lane';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import { createRecorder } from '#lib/gateway/flow/relay/recorder';
import { StreamRelay } from '#lib/gateway/flow/relay/stream';
import { WholeRelay } from '#lib/gateway/flow/relay/whole';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { Answer } from '#lib/gateway/upstream/attempt';
import { codingOf } from '#lib/gateway/upstream/decode';
import type { Exchange } from '#lib/gateway/upstream/exchange';
import { headersToClient, headerText, providerRequestId } from '#lib/gateway/upstream/headers';

/**
 * Relays an answer, all but its last byte. Streams go out as they come; of a whole answer at least the
 * newest piece is held back, so that its end cannot reach the client before the journal has it.
 * @returns how to send the rest; the call has its charge and end reason by then.
 * @throws Refused when nothing of the answer may go out: it broke off or could not be kept.
 */
export function relayAnswer(
  runtime: Runtime,
  claimed: ClaimedCall,
  answer: Answer,
  reply: Reply,
): Promise<SendLastByte> {
  const { exchange, target, reading } = answer;
  const call = extendCall(claimed, { target });
  const { family, ask } = call;
  const succeeded = exchange.status >= 200 && exchange.status < 300;
  call.outcome.status = exchange.status;
  const framing = reading?.framing ?? unreadFraming(exchange);
  const streamed = framing !== 'whole';
  const meter = reading?.meter ?? null;
  const injected = ask.operation.steps === 'generate' && family.injectsUsage?.(ask, target.offer) === true;
  const tap = new Tap({
    removeUsage: framing === 'events' && injected,
    mask: succeeded ? null : target.credential,
  });
  const recorder = createRecorder(runtime, call, meter);
  const headers = answerHeaders(call, answer, streamed);
  if (streamed && runtime.closesStreams) headers.push('connection', 'close');
  return new Promise((resolve, reject) => {
    const parts = { runtime, call, exchange, answer, meter, tap, recorder, reply, headers, resolve, reject };
    const relay = streamed ? new StreamRelay(parts) : new WholeRelay(parts);
    exchange.read(relay);
  });
}

/** The headers of an answer that a provider gave (contract: request/answering-headers). */
function answerHeaders(call: AnsweredCall, { exchange, target }: Answer, streamed: boolean): HeaderList {
  // No content has no length either.
  const headers = headersToClient(exchange.headers, streamed || exchange.status === 204, target.credential);
  for (const text of call.headers) headers.push(text);
  headers.push('x-answered-model', target.model.id, 'x-answered-provider', target.offer.provider.id);
  headers.push('x-attempts', String(call.outcome.attempts.length));
  // Not the newest attempt's: an earlier answer passes when the last attempt got none.
  const upstreamId = providerRequestId(exchange.headers, target.credential);
  if (upstreamId) headers.push('x-upstream-request-id', upstreamId);
  if (streamed && exchange.headers['cache-control'] === undefined) headers.push('cache-control', 'no-cache');
  if (streamed) headers.push('x-accel-buffering', 'no');
  return headers;
}

/** A file, or an answer that is not a 2xx. If its coding cannot be undone here, nothing may be inserted. */
function unreadFraming({ headers }: Exchange): Framing {
  return codingOf(headers) === '' ? framingOf(headerText(headers, 'content-type'), false) : 'whole';
}
