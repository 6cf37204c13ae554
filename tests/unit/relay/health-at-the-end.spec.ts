import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { createReading } from '#lib/core/metering/create-meter';
import { Tap } from '#lib/core/relay/tap';
import type { Reply } from '#lib/gateway/flow/lane';
import { HoldExhausted, type SendLastByte } from '#lib/gateway/flow/relay/parts';
import { StreamRelay } from '#lib/gateway/flow/relay/stream';
import { WholeRelay } from '#lib/gateway/flow/relay/whole';
import { unconfiguredRuntime } from '#lib/gateway/flow/unconfigured';
import { createHealth } from '#lib/gateway/routing/breaker';
import { Exchange } from '#lib/gateway/upstream/exchange';
import { askChat, calledBy } from '#tests/unit/families/make';
import { answeredCall } from '#tests/unit/gateway/make-call';
import { aimedAt, failure, modelOf, offerAt } from '#tests/unit/routing/make';

const minute = 60_000;
const data = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
const delta = (fields: object, reason: string | null = null) =>
  data({ choices: [{ index: 0, delta: fields, finish_reason: reason }] });
const role = delta({ role: 'assistant' });
const word = delta({ content: 'a' });
const end = `${delta({}, 'stop')}data: [DONE]\n\n`;
const broken = Object.assign(new Error('reset'), { code: 'ECONNRESET' });

/** An answer of an offer that had failed four times, as its relay sees it. */
function relayed({ stream = true, streamEnd = null }: { stream?: boolean; streamEnd?: 'none' | null } = {}) {
  const runtime = unconfiguredRuntime();
  const health = createHealth();
  const nowMs = Date.now();
  for (let at = 0; at < 4; at += 1) {
    const before = health.begin(aimedAt('o'), nowMs, false);
    before?.failed(failure(), nowMs);
    before?.over();
  }
  const running = health.begin(aimedAt('o'), nowMs, false);
  const ask = askChat({ model: 'm', stream });
  const offer = offerAt('a', 'm', { streamEnd });
  if (!offer.price || !running) throw new Error('the offer has a price and room');
  const target = {
    model: modelOf('m', [offer]),
    offer,
    family: 'chat' as const,
    address: new URL('https://a.test/v1'),
    ...calledBy('s'),
    price: offer.price,
    injectBudget: null,
  };
  const call = answeredCall(chat, ask, target);
  call.outcome.status = 200;
  call.outcome.attempts.push({
    provider: 'a',
    model: 'm',
    status: 200,
    error: null,
    startMs: 0,
    durationMs: 1,
    upstreamRequestId: null,
    credential: 'default',
    possibleDuplicate: false,
    providerCode: null,
    providerMessage: null,
  });
  const exchange = new Exchange({
    firstByteMs: minute,
    firstWordMs: minute,
    idleMs: minute,
    totalMs: minute,
  });
  exchange.ready.catch(() => {});
  const reading = createReading(chat, ask, {
    contentType: stream ? 'text/event-stream' : 'application/json',
  });
  let sent = '';
  let ended: 'end' | 'cut' | null = null;
  const take = (chunk: Uint8Array | string) => {
    sent += Buffer.from(chunk).toString();
    return true;
  };
  const reply: Reply = {
    start: () => {},
    started: () => sent !== '',
    write: take,
    onDrain: () => {},
    end: (last = '') => {
      take(last);
      ended = 'end';
    },
    cut: () => {
      ended = 'cut';
    },
  };
  const { promise, resolve, reject } = Promise.withResolvers<SendLastByte>();
  const answer = { target, exchange, reading, running, place: 0, beganMono: 0, failedMs: 0, fault: null };
  const tap = new Tap({ removeUsage: false, mask: null });
  const { meter } = reading;
  const parts = {
    runtime,
    call,
    exchange,
    answer,
    meter,
    tap,
    recorder: null,
    reply,
    headers: [],
    resolve,
    reject,
  };
  const relay = stream ? new StreamRelay(parts) : new WholeRelay(parts);
  return {
    call,
    data: (text: string) => {
      meter.push(Buffer.from(text));
      relay.data(Buffer.from(text));
    },
    end: () => relay.end(),
    fail: (error: Error) => relay.fail(error),
    /** Once all is over: what is known of it. */
    told: async () => {
      const sendLastByte = await promise;
      sendLastByte(reply);
      exchange.abort(new Error('over'));
      const { failures, openUntilMs } = health.of('o');
      return {
        error: call.outcome.attempts[0]?.error,
        endReason: call.outcome.endReason,
        failures,
        aside: openUntilMs > nowMs,
        sent,
        ended,
      };
    },
  };
}

describe('the health of an offer learns how its answer ended (contract: routing/health-at-the-end)', () => {
  const good = { error: null, endReason: 'completed', failures: 0, aside: false };
  const bad = (error: string) => ({ error, endReason: 'upstream_error', failures: 5, aside: true });

  it.each([
    ['well', word + end, good],
    ['with a reason and no word', role + end, good],
    ['with an error before its first word', data({ error: { message: 'x' } }), bad('error_in_answer')],
    ['with an error after it', word + data({ error: { message: 'x' } }) + end, bad('error_in_answer')],
    ['without a word', `${role}data: [DONE]\n\n`, bad('empty_answer')],
    ['without its own end', word, bad('cut_answer')],
    ['inside an event', `${word}${end}data: {"usa`, bad('cut_answer')],
  ])('%s', async (_, text, expected) => {
    const one = relayed();
    one.data(text);
    one.end();
    expect(await one.told()).toMatchObject(expected);
  });

  it.each([
    ['well', '{"choices":[{"message":{"content":"a"}}]}', good],
    ['with an error', '{"error":{"message":"x"},"usage":{"prompt_tokens":1}}', bad('error_in_answer')],
    ['without anything in it', '{}', bad('empty_answer')],
    ['torn', '{"choices":[{"message":{"cont', bad('cut_answer')],
  ])('of a whole one: %s', async (_, text, expected) => {
    const one = relayed({ stream: false });
    one.data(text);
    one.end();
    expect(await one.told()).toMatchObject(expected);
  });

  it('the health of an offer learns that its answer broke off', async () => {
    const one = relayed();
    one.data(word);
    one.fail(broken);
    expect(await one.told()).toMatchObject(bad('connection_reset'));
  });

  it('an error that the request caused does not count against the offer', async () => {
    const one = relayed();
    one.data(data({ error: { code: 'context_length_exceeded', message: 'x' } }));
    one.end();
    expect(await one.told()).toMatchObject({ error: 'error_in_answer', failures: 0 });
  });

  it('answers that the client or the gateway ended do not count', async () => {
    const left = relayed();
    left.data(word);
    left.call.outcome.gone = true;
    left.fail(Object.assign(new Error('left'), { code: 'CLIENT_GONE' }));
    expect(await left.told()).toMatchObject({ error: null, failures: 4, aside: false });
    const drained = relayed();
    drained.data(word);
    drained.call.outcome.gone = true;
    drained.end();
    expect(await drained.told()).toMatchObject({ failures: 4, aside: false });
    const unfunded = relayed();
    unfunded.data(word);
    unfunded.fail(new HoldExhausted());
    expect(await unfunded.told()).toMatchObject({ failures: 4, aside: false });
  });

  it('an answer whose client left after its own end is a success', async () => {
    const one = relayed();
    one.data(word + end);
    expect(one.call.outcome.delivered).toBe(true);
    one.call.outcome.gone = true;
    one.fail(Object.assign(new Error('left'), { code: 'CLIENT_GONE' }));
    expect(await one.told()).toMatchObject({ error: null, endReason: 'completed', failures: 0 });
  });
});

describe('the own end of a stream (contract: routing/own-end)', () => {
  it('a client gets an error if the stream’s own end is missing', async () => {
    const one = relayed();
    one.data(role + word);
    one.end();
    const { sent, ended } = await one.told();
    expect(sent.startsWith(role + word)).toBe(true);
    expect([sent.includes('upstream_request_failed'), sent.includes('[DONE]'), ended]).toEqual([
      true,
      false,
      'end',
    ]);
  });

  it('the own end may be missing if the offer is known to leave it out, once something was said', async () => {
    const known = relayed({ streamEnd: 'none' });
    known.data(role + word);
    known.end();
    expect(await known.told()).toMatchObject({ sent: role + word, endReason: 'completed', failures: 0 });
    const silent = relayed({ streamEnd: 'none' });
    silent.data(role);
    silent.end();
    expect(await silent.told()).toMatchObject({ endReason: 'upstream_error', failures: 5 });
  });

  it('the own end counts only when it has been relayed', () => {
    const one = relayed();
    one.data(role + word);
    expect(one.call.outcome.delivered).toBe(false);
    one.data(end);
    expect(one.call.outcome.delivered).toBe(true);
    one.fail(new Error('the test is over'));
  });
});
