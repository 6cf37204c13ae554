import { describe, expect, it } from 'vitest';
import { changesOf } from '#lib/gateway/routing/pure/policy/difference';
import { mergeChanges } from '#lib/gateway/routing/pure/policy/merge';
import { readPasted } from '#lib/gateway/routing/pure/policy/pasted';

describe('what differs between two policies, in words', () => {
  it.each([
    [{}, {}, []],
    [{ sort: 'price' }, { sort: 'price' }, []],
    [{ maxAttempts: 4 }, { maxAttempts: 2 }, ['Attempts: 4 → 2']],
    [{}, { sort: 'latency' }, ['Sort: set to latency']],
    [{ sort: 'latency' }, {}, ['Sort: removed latency']],
    [{}, { translate: 'never' }, ['Translation: set to never']],
    [{ order: ['a'] }, { order: ['b', 'a'] }, ['Provider order: added b as number 1']],
    [{}, { fallbackModels: ['x/1'] }, ['Fallback models: added x/1 as number 2']],
    [{ order: ['a', 'b'] }, { order: ['b', 'a'] }, ['Provider order: the order is b, a']],
    [{ fallbackModels: ['x/1', 'x/2'] }, { fallbackModels: ['x/2'] }, ['Fallback models: removed x/1']],
    [{ fallbackModels: [] }, {}, ['Fallback models: inherited again']],
    [{}, { ignore: [] }, ['Ignored providers: set to none']],
    [{ weights: { a: 1 } }, { weights: { a: 3, b: 2 } }, ['Weights: a 1 → 3', 'Weights: b is 2']],
    [
      { aliases: { smart: 'x/1' } },
      { aliases: { smart: ['x/1', 'x/2'] } },
      ['Aliases: smart x/1 → x/1, then x/2'],
    ],
    [{ maxPrice: { input: '5' } }, {}, ['Highest price: removed input']],
    [{ maxPrice: { input: '5' } }, { maxPrice: { input: '7' } }, ['Highest price: input $5 → $7']],
    [{ maxBatchHold: '5' }, { maxBatchHold: '9' }, ['Highest hold of a batch: $5 → $9']],
    [
      { timeouts: { idleMs: 5 } },
      { timeouts: { idleMs: 90_000, connectMs: 120_000 } },
      ['Time limits: pause between words 5 ms → 90 s', 'Time limits: connect is 2 min'],
    ],
    [{ unknown: 1 }, { unknown: [1] }, ['unknown: 1 → 1']],
  ])('%j → %j', (before, after, said) => {
    expect(changesOf(before, after)).toEqual(said);
  });
});

describe('two changes of one policy', () => {
  const base = { sort: 'price', order: ['a'], maxAttempts: 3 };

  it('two people’s changes of a policy are joined key by key, and neither is lost', () => {
    const mine = { ...base, maxAttempts: 2 };
    const theirs = { sort: 'latency', maxAttempts: 3, only: ['a'] };
    expect(mergeChanges(base, mine, theirs)).toEqual({
      policy: { sort: 'latency', maxAttempts: 2, only: ['a'] },
      both: [],
    });
  });

  it('keys that both people changed are named, and mine win', () => {
    const merged = mergeChanges(base, { ...base, sort: 'order' }, { ...base, sort: 'latency' });
    expect(merged).toEqual({ policy: { ...base, sort: 'order' }, both: ['sort'] });
  });

  it('a key that I removed stays removed', () => {
    expect(mergeChanges(base, { sort: 'price', maxAttempts: 3 }, base).policy).not.toHaveProperty('order');
  });
});

describe('a pasted request', () => {
  const body = { model: 'x/1', messages: [] };
  it.each([
    ['openai/gpt-4.1', { model: 'openai/gpt-4.1' }],
    ['"smart"', { model: 'smart' }],
    [JSON.stringify(body), { body }],
    [`POST /v1/messages HTTP/1.1\nhost: x\n\n${JSON.stringify(body)}`, { path: '/v1/messages', body }],
    [
      `curl http://localhost:3000/v1/chat/completions -d '${JSON.stringify(body)}'`,
      { path: '/v1/chat/completions', body },
    ],
    [
      `curl https://x/v1beta/models/gemini:generateContent?alt=sse -d '{"contents":[{"parts":[{"text":"it'\\''s"}]}]}'`,
      { path: '/v1beta/models/gemini:generateContent', body: { contents: [{ parts: [{ text: "it's" }] }] } },
    ],
    ['', {}],
  ])('%s', (text, found) => {
    expect(readPasted(text)).toEqual({ path: null, body: null, model: null, fault: null, ...found });
  });

  it.each(['{"model": ', '{"model": x}', '/v1/messages {[}'])(
    'a pasted request that is cut off is reported as such: %s',
    (text) => {
      expect(readPasted(text).fault).toMatch(/^The body/);
    },
  );
});
