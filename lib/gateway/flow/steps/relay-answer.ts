import { Refused, refusal } from '#lib/core/errors';
import { type Framing, framingOf } from '#lib/core/relay/framing';
import { Tap } from '#lib/core/relay/tap';
import type { TranslatedCall } from '#lib/gateway/flow/attempt/translate-call';
import type { GivenAnswer } from '#lib/gateway/flow/attempt/try-targets';
import { type AnsweredCall, type ClaimedCall, extendCall } from '#lib/gateway/flow/call/call';
import type { HeaderList, Reply } from '#lib/gateway/flow/lane';
import { type RelayParts, type SendLastByte, withhold } from '#lib/gateway/flow/relay/parts';
import { createRecorder } from '#lib/gateway/flow/relay/recorder';
import { StreamRelay } from '#lib/gateway/flow/relay/stream';
import { WholeRelay } from '#lib/gateway/flow/relay/whole';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { UntranslatableAnswer } from '#lib/gateway/translation/answer';
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
  answer: GivenAnswer,
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
  const translated = succeeded ? answer.translated : null;
  if (!succeeded) answer.translated?.abandon();
  const injected =
    !translated && ask.operation.steps === 'generate' && family.injectsUsage?.(ask, target.offer) === true;
  const tap = new Tap({
    removeUsage: framing === 'events' && injected,
    mask: succeeded ? null : target.credential.secret,
  });
  // What is stored by another protocol's id could not be asked for.
  const recorder = translated ? null : createRecorder(runtime, call, meter);
  const headers = answerHeaders(call, answer, streamed);
  if (streamed && runtime.closesStreams) headers.push('connection', 'close');
  return new Promise((resolve, reject) => {
    const parts: RelayParts = {
      runtime,
      call,
      exchange,
      answer,
      translated,
      meter,
      tap,
      recorder,
      reply,
      headers,
      resolve,
      reject,
    };
    const relay = streamed ? new StreamRelay(parts) : new WholeRelay(parts);
    if (!translated || !meter) {
      exchange.read(relay);
      return;
    }
    if (streamed !== ask.stream) {
      exchange.abort(new UntranslatableAnswer('it is in a form that was not asked for'));
      withhold(parts, notInForm());
      return;
    }
    const isCut = () => {
      meter.end();
      return relay.isCut();
    };
    exchange.read(translated.answer.through(relay, { meter, isCut }));
  });
}

/** The provider was asked for a stream and gave a whole answer, or the reverse. */
function notInForm(): Refused {
  return new Refused(
    refusal(
      'upstream_request_failed',
      'The provider answered in a form that was not asked for, which cannot be translated; retry with backoff.',
    ),
  );
}

/** The headers of an answer that a provider gave (contract: request/answering-headers). */
function answerHeaders(call: AnsweredCall, answer: GivenAnswer, streamed: boolean): HeaderList {
  const { exchange, target, translated } = answer;
  const succeeded = exchange.status >= 200 && exchange.status < 300;
  const headers =
    translated && succeeded
      ? translatedHeaders(translated)
      : // No content has no length either.
        headersToClient(exchange.headers, streamed || exchange.status === 204, target.credential.secret);
  for (const text of call.headers) headers.push(text);
  if (target.model.id !== '') headers.push('x-answered-model', target.model.id);
  headers.push('x-answered-provider', target.offer.provider.id);
  headers.push('x-attempts', String(call.outcome.attempts.length));
  // Not the newest attempt's: an earlier answer passes when the last attempt got none.
  const upstreamId = providerRequestId(exchange.headers, target.credential.secret);
  if (upstreamId) headers.push('x-upstream-request-id', upstreamId);
  if (streamed && exchange.headers['cache-control'] === undefined) headers.push('cache-control', 'no-cache');
  if (streamed) headers.push('x-accel-buffering', 'no');
  return headers;
}

/** Of the provider's headers none fits the translated body (contract: translation/headers). */
function translatedHeaders({ from, to, lost, contentType }: TranslatedCall): HeaderList {
  const headers = ['content-type', contentType, 'x-translated', `${from}-to-${to}`];
  if (lost.length > 0) headers.push('x-translation-loss', lost.join(', '));
  return headers;
}

/** A file, or an answer that is not a 2xx. If its coding cannot be undone here, nothing may be inserted. */
function unreadFraming({ headers }: Exchange): Framing {
  return codingOf(headers) === '' ? framingOf(headerText(headers, 'content-type'), false) : 'whole';
}
