import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { askChat } from '#tests/unit/families/make';
import { aimedAt } from '#tests/unit/routing/make';
import {
  bodyOf,
  breaking,
  data,
  error,
  json,
  type Manner,
  playProviders,
  status,
  stream,
  streams,
  whole,
  wholes,
} from '#tests/unit/routing/play-providers';

const minute = 60_000;
const { state, run, trip } = playProviders();

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

    it.each(unusable)('an unusable whole answer gives way to the next target: %s', async (_, manner, why) => {
      const { answer, attempts } = await run(one, { a: manner, b: whole(good) });
      expect(await bodyOf(answer)).toEqual([good, 'end']);
      expect(attempts.map(([provider, , name]) => [provider, name])).toEqual([
        ['a', why],
        ['b', null],
      ]);
      expect(state.health.of('m@a')).toMatchObject({ failures: 1, running: 0 });
    });

    it.each(unusable)(
      'an unusable whole answer is never relayed, not even as the last or only one: %s',
      async (_, manner, why) => {
        const alone = await run(one, { a: manner });
        expect([alone.answer, alone.attempts.map(([, , name]) => name)]).toEqual([null, [why]]);
        state.number += 1;
        expect((await run(one, { a: manner, b: manner })).answer).toBeNull();
        state.number += 1;
        expect((await run(one, { a: status(503), b: manner })).answer?.exchange.status).toBe(503);
      },
    );

    it('a whole answer is complete once its JSON is, however slowly it comes', async () => {
      const slow: Manner = (response) => {
        response
          .writeHead(200, json)
          .write(' \n', () => response.write(good.slice(0, 5), () => response.end(good.slice(5))));
      };
      const { answer, place } = await run(one, { a: slow, b: whole(good) });
      expect([place, await bodyOf(answer)]).toEqual(['a', [` \n${good}`, 'end']]);
    });

    it('a whole answer has begun beyond 1 MiB, whatever follows', async () => {
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

  it('the last answer is relayed despite its error if it reports usage or contains output', async () => {
    for (const more of [{ usage }, one.good]) {
      const text = JSON.stringify({ error, ...more });
      const { answer, attempts } = await run(one, { a: status(500), b: whole(text) });
      expect(answer).toMatchObject({ running: null, exchange: { status: 200 } });
      expect([await bodyOf(answer), attempts[1]?.[2]]).toEqual([[text, 'end'], 'error_in_answer']);
      state.number += 1;
    }
  });

  it('an error in a 200 keeps its status in the record of its attempt, as a torn answer does', async () => {
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

  it('an error in a 200 that the request caused does not count against the offer', async () => {
    trip('a', Date.now() - minute);
    const blamed = JSON.stringify({ error: { code: 'context_length_exceeded', message: 'x' } });
    await run(one, { a: whole(blamed), b: whole(good) });
    expect(state.health.of('m@a')).toMatchObject({ failures: 0, tripped: false });
  });

  it('an error in a 200 sets its offer aside for its Retry-After only if it is a rate limit', async () => {
    const limited = JSON.stringify({ error: { code: 'rate_limit_exceeded', message: 'x' } });
    const wait = { 'retry-after': '60' };
    await run(one, {
      a: whole(limited, wait),
      b: whole(JSON.stringify({ error }), wait),
      c: whole(good),
    });
    const nowMs = Date.now();
    expect([
      state.health.isAside(aimedAt('m@a'), nowMs + 50_000),
      state.health.isAside(aimedAt('m@b'), nowMs),
    ]).toEqual([true, false]);
  });
});
