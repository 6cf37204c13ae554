import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { generateContent } from '#lib/core/families/generate-content';
import { askContent } from '#tests/unit/families/content/make';
import {
  bodyOf,
  breaking,
  error,
  type Manner,
  open,
  playProviders,
  sse,
  status,
  stream,
  streams,
  whole,
} from '#tests/unit/routing/play-providers';

const { state, run } = playProviders();

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
      expect(state.health.of('m@a')).toMatchObject({ failures: 1, running: 0 });
      expect(state.arrived).toEqual(['a', 'b']);
    });

    it.each([
      ['an error', stream(silent + word + fault), 'end'],
      ['an end that is not its family’s', stream(silent + word), 'end'],
      ['a break', breaking(silent + word), 'fail'],
    ] as const)('does not once it has spoken, for %s', async (_, manner, how) => {
      const { answer, attempts, place } = await run(one, { a: manner, b: stream(good) });
      const [text, ended] = await bodyOf(answer);
      expect([place, text.startsWith(silent + word), ended]).toEqual(['a', true, how]);
      expect([attempts, state.arrived]).toEqual([[['a', 200, null]], ['a']]);
      // How it ended is told when it has been relayed.
      expect(answer?.running).not.toBeNull();
      expect(state.health.of('m@a').failures).toBe(0);
    });

    it('a stream that gives only a reason for its end is an answer', async () => {
      const { answer, place } = await run(one, { a: stream(silent + reason), b: stream(good) });
      expect([place, await bodyOf(answer)]).toEqual(['a', [silent + reason, 'end']]);
    });

    it('a stream is held completely until it says something', async () => {
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
      expect(state.arrived).toEqual(['a']);
    });

    it('the last failed stream is relayed as it came, including what was held', async () => {
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

    it('a failed stream is relayed when the target after it gave no answer', async () => {
      const dropped: Manner = (response) => response.socket?.destroy();
      const { answer, place } = await run(one, { a: stream(silent + fault), b: dropped });
      expect([place, answer?.place, answer?.running]).toEqual(['a', 0, null]);
      expect(await bodyOf(answer)).toEqual([silent + fault, 'end']);
    });

    it('a failed stream gives way to the refusal of the last target', async () => {
      const { answer } = await run(one, { a: stream(silent + fault), b: status(503) });
      expect(answer?.exchange.status).toBe(503);
      expect(await bodyOf(answer)).toEqual(['{"status":503}', 'end']);
    });

    it('a stream is not held when no other target is left', async () => {
      const { answer, place } = await run(one, { a: status(500), b: open(silent) });
      expect([place, answer?.exchange.ended]).toEqual(['b', false]);
      answer?.exchange.abort(new Error('the test is over'));
    });
  },
);

describe('what is held of a stream (contract: routing/begun)', () => {
  const [one] = streams;

  it('a held stream is sent to the client after the time that a policy sets', async () => {
    const { answer, place } = await run(
      one,
      { a: open(one.silent), b: stream(one.word + one.end) },
      { holdMs: 30 },
    );
    expect([place, answer?.exchange.ended, state.arrived]).toEqual(['a', false, ['a']]);
    answer?.exchange.abort(new Error('the test is over'));
  });

  it.each([
    [64 * 1024, 'b'],
    [64 * 1024 + 1, 'a'],
  ])(
    'a held stream is sent to the client beyond 64 KiB: %i bytes are answered by %s',
    async (size, expected) => {
      const silent = `${':'.padEnd(size - 2, '.')}\n\n`;
      const manner: Manner = (response) => {
        response.writeHead(200, sse).write(silent);
        // Only what is held can still give way.
        if (expected === 'b') response.end();
      };
      const { answer, place } = await run(one, { a: manner, b: stream(one.word + one.end) });
      expect(place).toBe(expected);
      answer?.exchange.abort(new Error('the test is over'));
    },
  );

  it('a held stream gives way when its first word does not come in time, even if silent events do', async () => {
    const { place, attempts } = await run(
      one,
      { a: open(one.silent), b: stream(one.word + one.end) },
      { firstWordMs: 50 },
    );
    expect([place, attempts[0]]).toEqual(['b', ['a', 200, 'first_word_timeout']]);
    expect(state.health.of('m@a').failures).toBe(1);
  });

  it('a stream in an unknown coding is not examined', async () => {
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

  it('a streamed array that has said something does not give way', async () => {
    const torn = `[${word},{"error":{"code":503}}`;
    const { answer, place } = await run(one, { a: whole(torn), b: whole(good) });
    expect([place, await bodyOf(answer)]).toEqual(['a', [torn, 'end']]);
  });
});
