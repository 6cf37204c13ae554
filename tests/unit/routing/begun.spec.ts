import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import type { Ask, Family } from '#lib/core/families/family';
import { generateContent } from '#lib/core/families/generate-content';
import { messages } from '#lib/core/families/messages';
import { responses } from '#lib/core/families/responses';
import { tryTargets } from '#lib/gateway/flow/attempt/try-targets';
import { extendCall } from '#lib/gateway/flow/call/call';
import { OfferFaults } from '#lib/gateway/metrics/offer-faults';
import { createHealth } from '#lib/gateway/routing/breaker';
import type { Health } from '#lib/gateway/routing/health';
import type { Target } from '#lib/gateway/routing/pure/target';
import type { Answer } from '#lib/gateway/upstream/attempt';
import { createPools } from '#lib/gateway/upstream/pools';
import { systemClock } from '#lib/platform/clock';
import { askContent } from '#tests/unit/families/content/make';
import { askChat } from '#tests/unit/families/make';
import { askMessages } from '#tests/unit/families/messages/make';
import { askResponse } from '#tests/unit/families/responses/make';
import { plannedCall } from '#tests/unit/gateway/make-call';
import { modelOf, offerAt } from '#tests/unit/routing/make';

/** What a provider does with a request. */
type Manner = (response: ServerResponse) => void;

const sse = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };
const minute = 60_000;
const pools = createPools();
const offerFaults = new OfferFaults(() => {});
let server: Server;
let origin = '';
let tests = 0;
let manners: Readonly<Record<string, Manner>> = {};
/** Places of the targets in the order of arrival. */
let arrived: string[] = [];
let health: Health;

beforeAll(async () => {
  server = createServer((request, response) => {
    const [, test = '', place = ''] = (request.url ?? '').split('/');
    // What an earlier test sent and gave up may arrive late.
    if (test !== `${tests}`) return;
    arrived.push(place);
    request.resume();
    manners[place]?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  origin = typeof address === 'object' && address ? `http://127.0.0.1:${address.port}` : '';
});
afterAll(async () => {
  await pools.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  tests += 1;
  arrived = [];
  health = createHealth();
});

const stream =
  (text: string): Manner =>
  (response) =>
    response.writeHead(200, sse).end(text);
const open =
  (text: string): Manner =>
  (response) =>
    response.writeHead(200, sse).write(text);
/** Writes what it has to say and then breaks the connection. */
const breaking =
  (text: string, headers: Readonly<Record<string, string>> = sse): Manner =>
  (response) =>
    response.writeHead(200, headers).write(text, () => response.socket?.destroy());
const whole =
  (text: string, headers: Readonly<Record<string, string>> = {}): Manner =>
  (response) =>
    response.writeHead(200, { ...json, ...headers }).end(text);
const status =
  (code: number): Manner =>
  (response) =>
    response.writeHead(code, json).end(`{"status":${code}}`);

/** Tries the manners in their order. @param limits of the call, where they differ from a minute, ms. */
async function run(
  { family, ask }: { readonly family: Family; readonly ask: Ask },
  tried: Readonly<Record<string, Manner>>,
  limits: { readonly holdMs?: number; readonly firstWordMs?: number; readonly firstByteMs?: number } = {},
) {
  manners = tried;
  const targets = Object.keys(tried).map((place): Target => {
    const offer = offerAt(place);
    if (!offer.price) throw new Error('the offer has a price');
    const address = new URL(`${origin}/${tests}/${place}`);
    const { id } = family;
    const model = modelOf('m', [offer]);
    return { model, offer, family: id, address, credential: 's', price: offer.price, injectBudget: null };
  });
  const planned = plannedCall(family, ask, targets);
  const timeLimits = { ...planned.plan.timeLimits, ...limits };
  const call = extendCall(planned, { plan: { ...planned.plan, timeLimits } });
  const { answer } = await tryTargets({ clock: systemClock, pools, health, offerFaults }, call, {
    underway: () => {},
  });
  const attempts = call.outcome.attempts.map(({ provider, status, error }) => [provider, status, error]);
  return { answer, attempts, place: answer?.target.offer.provider.id ?? null };
}

/** All that the client would get of an answer, and how it ends. */
async function bodyOf(answer: Answer | null): Promise<readonly [text: string, end: 'end' | 'fail' | 'none']> {
  if (answer === null) return ['', 'none'];
  return new Promise((resolve) => {
    let text = '';
    answer.exchange.read({
      data: (chunk) => {
        text += chunk.toString();
      },
      end: () => resolve([text, 'end']),
      fail: () => resolve([text, 'fail']),
    });
  });
}

function trip(place: string, nowMs: number): void {
  for (let at = 0; at < 5; at += 1) {
    const running = health.begin(`m@${place}`, nowMs, false);
    running?.failed(null, nowMs);
    running?.over();
  }
}

const data = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`;
const named = (payload: { readonly type: string } & Readonly<Record<string, unknown>>) =>
  `event: ${payload.type}\n${data(payload)}`;
const error = { code: 'server_error', type: 'api_error', message: 'x' };
const delta = (fields: object, reason: string | null = null) =>
  data({ choices: [{ index: 0, delta: fields, finish_reason: reason }] });

const streams = [
  {
    family: chat,
    ask: askChat({ model: 'm', stream: true }),
    silent: `: hello\n\n${delta({ role: 'assistant', content: '' })}`,
    word: delta({ content: 'a' }),
    end: `${delta({}, 'stop')}data: [DONE]\n\n`,
    bareEnd: 'data: [DONE]\n\n',
    reason: delta({}, 'content_filter'),
    fault: data({ error }),
  },
  {
    family: messages,
    ask: askMessages({ model: 'm', stream: true, max_tokens: 9, messages: [] }),
    silent:
      named({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 3, output_tokens: 1 } } }) +
      named({ type: 'ping' }) +
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    word: named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } }),
    end:
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }) +
      named({ type: 'message_stop' }),
    bareEnd: named({ type: 'message_stop' }),
    reason:
      named({ type: 'message_delta', delta: { stop_reason: 'refusal' }, usage: { output_tokens: 0 } }) +
      named({ type: 'message_stop' }),
    fault: named({ type: 'error', error }),
  },
  {
    family: responses,
    ask: askResponse({ model: 'm', stream: true }),
    silent:
      named({ type: 'response.created', response: { id: 'r', output: [] } }) +
      named({ type: 'response.in_progress', response: { id: 'r', output: [] } }) +
      named({ type: 'response.output_item.added', item: { type: 'message', id: 'i', content: [] } }),
    word: named({ type: 'response.output_text.delta', delta: 'a' }),
    end: named({ type: 'response.completed', response: { id: 'r', output: [] } }),
    bareEnd: null,
    reason: named({ type: 'response.incomplete', response: { id: 'r', output: [] } }),
    fault: named({ type: 'response.failed', response: { id: 'r', output: [], error } }),
  },
  {
    family: generateContent,
    ask: askContent({}, 'stream'),
    silent: data({ candidates: [{ index: 0, content: { parts: [{ text: '' }] } }] }),
    word: data({ candidates: [{ index: 0, content: { parts: [{ text: 'a' }] } }] }),
    end: data({ candidates: [{ index: 0, finishReason: 'STOP' }] }),
    bareEnd: null,
    reason: data({ promptFeedback: { blockReason: 'SAFETY' } }),
    fault: data({ error: { code: 503, status: 'UNAVAILABLE', message: 'x' } }),
  },
] as const;

describe.each(streams)(
  'a stream of the $family.id family that has said nothing (contract: routing/begun)',
  (one) => {
    const { silent, word, end, bareEnd, reason, fault } = one;
    const good = silent + word + end;

    it.each([
      ['an error', stream(fault), 'error_in_answer'],
      ['an error behind its first events', stream(silent + fault), 'error_in_answer'],
      ['an error, and stays open', open(silent + fault), 'error_in_answer'],
      ['an end that is not its family’s', stream(silent), 'cut_answer'],
      ['an end inside an event', stream(`${silent}data: {"a":`), 'cut_answer'],
      ['a break', breaking(silent), 'connection_closed'],
      ['a JSON error', whole(JSON.stringify({ error })), 'error_in_answer'],
      ...(bareEnd === null ? [] : [['no word', stream(silent + bareEnd), 'empty_answer'] as const]),
    ] as const)('gives way to the next target for %s', async (_, manner, why) => {
      const { answer, attempts } = await run(one, { a: manner, b: stream(good) });
      expect(await bodyOf(answer)).toEqual([good, 'end']);
      expect(attempts.map(([provider, , name]) => [provider, name])).toEqual([
        ['a', why],
        ['b', null],
      ]);
      expect(health.of('m@a')).toMatchObject({ failures: 1, running: 0 });
      expect(arrived).toEqual(['a', 'b']);
    });

    it.each([
      ['an error', stream(silent + word + fault), 'end'],
      ['an end that is not its family’s', stream(silent + word), 'end'],
      ['a break', breaking(silent + word), 'fail'],
    ] as const)('does not once it has spoken, for %s', async (_, manner, how) => {
      const { answer, attempts, place } = await run(one, { a: manner, b: stream(good) });
      const [text, ended] = await bodyOf(answer);
      expect([place, text.startsWith(silent + word), ended]).toEqual(['a', true, how]);
      expect([attempts, arrived]).toEqual([[['a', 200, null]], ['a']]);
      // How it ended is told when it has been relayed.
      expect(answer?.running).not.toBeNull();
      expect(health.of('m@a').failures).toBe(0);
    });

    it('is an answer all the same where it gives a reason', async () => {
      const { answer, place } = await run(one, { a: stream(silent + reason), b: stream(good) });
      expect([place, await bodyOf(answer)]).toEqual(['a', [silent + reason, 'end']]);
    });

    it('is held whole until it speaks', async () => {
      let provider: ServerResponse | undefined;
      const wrote = Promise.withResolvers<void>();
      const manner: Manner = (response) => {
        provider = response;
        response.writeHead(200, sse).write(silent, () => wrote.resolve());
      };
      let decided = false;
      const running = run(one, { a: manner, b: stream(good) }).finally(() => {
        decided = true;
      });
      await wrote.promise;
      // The provider's second piece shows that its first was read.
      await new Promise((resolve) => provider?.write(': still there\n\n', resolve));
      expect(decided).toBe(false);
      provider?.end(word + end);
      const { answer, place } = await running;
      expect([place, await bodyOf(answer)]).toEqual([
        'a',
        [`${silent}: still there\n\n${word}${end}`, 'end'],
      ]);
      expect(arrived).toEqual(['a']);
    });

    it('passes as it came, with what was held, when it was the last to fail', async () => {
      const { answer, attempts } = await run(one, {
        a: status(503),
        b: stream(fault),
        c: stream(silent + fault),
      });
      expect(answer).toMatchObject({ exchange: { status: 200 }, place: 2 });
      expect(await bodyOf(answer)).toEqual([silent + fault, 'end']);
      // Its own failure is told when it has been relayed.
      expect(attempts.map(([, , name]) => name)).toEqual([null, 'error_in_answer', null]);
      expect(answer?.running).not.toBeNull();
    });

    it('passes when the target after it gave no answer at all', async () => {
      const dropped: Manner = (response) => response.socket?.destroy();
      const { answer, place } = await run(one, { a: stream(silent + fault), b: dropped });
      expect([place, answer?.place, answer?.running]).toEqual(['a', 0, null]);
      expect(await bodyOf(answer)).toEqual([silent + fault, 'end']);
    });

    it('gives way to the refusal of the last target', async () => {
      const { answer } = await run(one, { a: stream(silent + fault), b: status(503) });
      expect(answer?.exchange.status).toBe(503);
      expect(await bodyOf(answer)).toEqual(['{"status":503}', 'end']);
    });

    it('is not held where no other target is left', async () => {
      const { answer, place } = await run(one, { a: status(500), b: open(silent) });
      expect([place, answer?.exchange.ended]).toEqual(['b', false]);
      answer?.exchange.abort(new Error('the test is over'));
    });
  },
);

describe('what is held of a stream (contract: routing/begun)', () => {
  const [one] = streams;

  it('goes to the client after the time that a policy sets', async () => {
    const { answer, place } = await run(
      one,
      { a: open(one.silent), b: stream(one.word + one.end) },
      { holdMs: 30 },
    );
    expect([place, answer?.exchange.ended, arrived]).toEqual(['a', false, ['a']]);
    answer?.exchange.abort(new Error('the test is over'));
  });

  it.each([
    [64 * 1024, 'b'],
    [64 * 1024 + 1, 'a'],
  ])('goes to the client beyond 64 KiB: %i bytes are answered by %s', async (size, expected) => {
    const silent = `${':'.padEnd(size - 2, '.')}\n\n`;
    const manner: Manner = (response) => {
      response.writeHead(200, sse).write(silent);
      // Only what is held can still give way.
      if (expected === 'b') response.end();
    };
    const { answer, place } = await run(one, { a: manner, b: stream(one.word + one.end) });
    expect(place).toBe(expected);
    answer?.exchange.abort(new Error('the test is over'));
  });

  it('gives way when its first word does not come in time, though silent events do', async () => {
    const { place, attempts } = await run(
      one,
      { a: open(one.silent), b: stream(one.word + one.end) },
      { firstWordMs: 50 },
    );
    expect([place, attempts[0]]).toEqual(['b', ['a', 200, 'first_word_timeout']]);
    expect(health.of('m@a').failures).toBe(1);
  });

  it('is not looked into where its coding cannot be undone', async () => {
    const sealed: Manner = (response) =>
      response.writeHead(200, { ...sse, 'content-encoding': 'secret' }).end('sealed');
    const { answer, place } = await run(one, { a: sealed, b: stream(one.word + one.end) });
    expect([place, await bodyOf(answer)]).toEqual(['a', ['sealed', 'end']]);
  });
});

describe('a streamed array that has said nothing (contract: routing/begun)', () => {
  const one = { family: generateContent, ask: askContent({}, 'stream') };
  const word = '{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}';
  const good = `[${word},{"candidates":[{"finishReason":"STOP"}]}]`;

  it.each([
    ['an error', '[{"error":{"code":503,"message":"x"}}]', 'error_in_answer'],
    ['a lone error', '{"error":{"code":503,"message":"x"}}', 'error_in_answer'],
    ['no element', '[]', 'cut_answer'],
    ['an end inside an element', '[{"candidates":[', 'cut_answer'],
  ])('gives way to the next target for %s', async (_, text, why) => {
    const { answer, attempts } = await run(one, { a: whole(text), b: whole(good) });
    expect(await bodyOf(answer)).toEqual([good, 'end']);
    expect(attempts[0]?.[2]).toBe(why);
  });

  it('does not once it has spoken', async () => {
    const torn = `[${word},{"error":{"code":503}}`;
    const { answer, place } = await run(one, { a: whole(torn), b: whole(good) });
    expect([place, await bodyOf(answer)]).toEqual(['a', [torn, 'end']]);
  });
});

const wholes = [
  { family: chat, ask: askChat({ model: 'm' }), good: { choices: [{ message: { content: 'a' } }] } },
  {
    family: messages,
    ask: askMessages({ model: 'm', max_tokens: 9, messages: [] }),
    good: { content: [{ type: 'text', text: 'a' }] },
  },
  { family: responses, ask: askResponse({ model: 'm' }), good: { id: 'r', output: [], error: null } },
  {
    family: generateContent,
    ask: askContent(),
    good: { candidates: [{ content: { parts: [{ text: 'a' }] } }] },
  },
] as const;

describe.each(wholes)(
  'a whole answer of the $family.id family (contract: routing/unusable-answer)',
  (one) => {
    const good = JSON.stringify(one.good);

    const unusable = [
      ['an empty object', whole('{}'), 'empty_answer'],
      ['an empty list', whole('[]'), 'empty_answer'],
      ['an error', whole(JSON.stringify({ error })), 'error_in_answer'],
      ['a torn one', whole(good.slice(0, -1)), 'cut_answer'],
      ['white space', whole(' \n '), 'cut_answer'],
      ['one that breaks off', breaking(good.slice(0, -3), json), 'connection_closed'],
    ] as const;

    it.each(unusable)('gives way to the next target: %s', async (_, manner, why) => {
      const { answer, attempts } = await run(one, { a: manner, b: whole(good) });
      expect(await bodyOf(answer)).toEqual([good, 'end']);
      expect(attempts.map(([provider, , name]) => [provider, name])).toEqual([
        ['a', why],
        ['b', null],
      ]);
      expect(health.of('m@a')).toMatchObject({ failures: 1, running: 0 });
    });

    it.each(unusable)('is no answer when it is the last, nor the only one: %s', async (_, manner, why) => {
      const alone = await run(one, { a: manner });
      expect([alone.answer, alone.attempts.map(([, , name]) => name)]).toEqual([null, [why]]);
      tests += 1;
      expect((await run(one, { a: manner, b: manner })).answer).toBeNull();
      tests += 1;
      expect((await run(one, { a: status(503), b: manner })).answer?.exchange.status).toBe(503);
    });

    it('is complete once its JSON is, however slowly it comes', async () => {
      const slow: Manner = (response) => {
        response
          .writeHead(200, json)
          .write(' \n', () => response.write(good.slice(0, 5), () => response.end(good.slice(5))));
      };
      const { answer, place } = await run(one, { a: slow, b: whole(good) });
      expect([place, await bodyOf(answer)]).toEqual(['a', [` \n${good}`, 'end']]);
    });

    it('has begun beyond 1 MiB, whatever comes then', async () => {
      const long = `{"error":"${'x'.repeat(2 ** 20)}`;
      const { answer, place } = await run(one, { a: breaking(long, json), b: whole(good) });
      const [text, end] = await bodyOf(answer);
      expect([place, text.length <= long.length, end]).toEqual(['a', true, 'fail']);
    });
  },
);

describe('an error in a 200', () => {
  const [one] = wholes;
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  const good = JSON.stringify(one.good);

  it('passes when it is the last answer and reports usage, or shows what was said', async () => {
    for (const more of [{ usage }, one.good]) {
      const text = JSON.stringify({ error, ...more });
      const { answer, attempts } = await run(one, { a: status(500), b: whole(text) });
      expect(answer).toMatchObject({ running: null, exchange: { status: 200 } });
      expect([await bodyOf(answer), attempts[1]?.[2]]).toEqual([[text, 'end'], 'error_in_answer']);
      tests += 1;
    }
  });

  it('keeps its status in the record of its attempt, as a torn answer does', async () => {
    const { attempts } = await run(one, {
      a: whole(JSON.stringify({ error })),
      b: whole('{'),
      c: whole(good),
    });
    expect(attempts).toEqual([
      ['a', 200, 'error_in_answer'],
      ['b', 200, 'cut_answer'],
      ['c', 200, null],
    ]);
  });

  it.each([
    ['of a choice, as the whole answer has it', whole(JSON.stringify({ choices: [{ error }] }))],
    [
      'of a choice, as a stream has it',
      stream(data({ choices: [{ delta: {}, error, finish_reason: 'error' }] })),
    ],
  ])('may be that %s', async (_, manner) => {
    const asked = { family: chat, ask: askChat({ model: 'm', stream: true }) };
    const { attempts } = await run(asked, { a: manner, b: stream(streams[0].word + streams[0].end) });
    expect(attempts.map(([, , name]) => name)).toEqual(['error_in_answer', null]);
  });

  it('says nothing against an offer where the request is to blame', async () => {
    trip('a', Date.now() - minute);
    const blamed = JSON.stringify({ error: { code: 'context_length_exceeded', message: 'x' } });
    await run(one, { a: whole(blamed), b: whole(good) });
    expect(health.of('m@a')).toMatchObject({ failures: 0, tripped: false });
  });

  it('sets its offer aside for the Retry-After of a rate limit, and of no other error', async () => {
    const limited = JSON.stringify({ error: { code: 'rate_limit_exceeded', message: 'x' } });
    const wait = { 'retry-after': '60' };
    await run(one, {
      a: whole(limited, wait),
      b: whole(JSON.stringify({ error }), wait),
      c: whole(good),
    });
    const nowMs = Date.now();
    expect([health.isAside('m@a', nowMs + 50_000), health.isAside('m@b', nowMs)]).toEqual([true, false]);
  });
});

describe('a probe (contract: routing/breaker)', () => {
  const [one] = streams;

  it('is back in service at its first word, and set aside for double the time by a break after it', async () => {
    trip('a', Date.now() - 10_000);
    const { answer } = await run(one, { a: open(one.silent + one.word), b: stream(one.word + one.end) });
    expect(health.of('m@a')).toMatchObject({ tripped: false, failures: 5, openUntilMs: 0 });
    const nowMs = Date.now();
    answer?.running?.failed(null, nowMs);
    expect(health.of('m@a')).toMatchObject({ tripped: true, openUntilMs: nowMs + 20_000 });
    answer?.exchange.abort(new Error('the test is over'));
  });

  it('is not by events that say nothing', async () => {
    trip('a', Date.now() - 10_000);
    const { answer, place } = await run(one, { a: open(one.silent) });
    expect([place, health.of('m@a').tripped]).toEqual(['a', true]);
    answer?.exchange.abort(new Error('the test is over'));
  });

  it('is not by a whole answer before its end is told', async () => {
    trip('a', Date.now() - 10_000);
    const [own] = wholes;
    const { answer } = await run(own, { a: whole(JSON.stringify(own.good)) });
    expect(health.of('m@a').tripped).toBe(true);
    answer?.running?.succeeded(1, false, Date.now());
    expect(health.of('m@a').tripped).toBe(false);
  });

  it('five answers that say nothing set their offer aside, and calls go past it', async () => {
    for (let calls = 0; calls < 5; calls += 1) {
      await run(one, { a: stream(one.silent), b: stream(one.word + one.end) });
      tests += 1;
    }
    expect(health.isAside('m@a', Date.now())).toBe(true);
    arrived = [];
    const { place } = await run(one, { a: stream(one.silent), b: stream(one.word + one.end) });
    expect([place, arrived]).toEqual(['b', ['b']]);
  });
});
