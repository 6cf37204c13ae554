import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { usageOf } from '#lib/core/metering/usage';
import { askChat } from '#tests/unit/families/make';

const ask = askChat({ model: 'm' });
const read = (usage: unknown, rest: object = {}) => chat.readUsage(ask, { ...rest, usage });

describe('the usage of a chat answer', () => {
  it('cached reads and writes of a chat are separated from the input', () => {
    const report = read({
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 15, audio_tokens: 2 },
    });
    expect(report?.usage).toEqual(
      usageOf({ input: 20, cachedInput: 30, cacheWrite5m: 50, output: 20, reasoning: 15, audioOutput: 2 }),
    );
    expect(report?.flags).toEqual([]);
  });

  it('counts audio and images as parts of the uncached input', () => {
    const details = { cached_tokens: 60, audio_tokens: 50, image_tokens: 30 };
    const { usage } =
      read({ prompt_tokens: 120, completion_tokens: 1, prompt_tokens_details: details }) ?? {};
    expect(usage).toEqual(usageOf({ input: 60, cachedInput: 60, audioInput: 50, imageInput: 10, output: 1 }));
  });

  it.each([
    ['at the top', { cached_tokens: 40 }],
    ['as cache hits', { prompt_cache_hit_tokens: 40, prompt_cache_miss_tokens: 60 }],
    ['under another name', { num_cached_tokens: 40 }],
    ['in two places', { prompt_cache_hit_tokens: 40, prompt_tokens_details: { cached_tokens: 40 } }],
  ])('finds cached tokens that a dialect reports %s', (_where, fields) => {
    const { usage } = read({ prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, ...fields }) ?? {};
    expect(usage).toEqual(usageOf({ input: 60, cachedInput: 40, output: 5 }));
  });

  it('counts reasoning that is hidden from the completion but not from the total', () => {
    const outside = { prompt_tokens: 12, completion_tokens: 2, total_tokens: 334 };
    expect(read({ ...outside, completion_tokens_details: { reasoning_tokens: 320 } })?.usage).toEqual(
      usageOf({ input: 12, output: 322, reasoning: 320 }),
    );
  });

  it('counts hidden thinking of a dialect that reports no figure of it, unless tools filled the prompt', () => {
    const hidden = { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 };
    for (const model of ['gemini-3.8-flash', 'models/gemini-3.8-flash', 'google/gemini-3.8-flash']) {
      const report = read(hidden, { model });
      expect(report?.usage).toEqual(usageOf({ input: 35, output: 74, reasoning: 62 }));
      expect(report?.flags).toEqual([]);
    }
    const searching = askChat({ model: 'm', tools: [{ type: 'google_search' }] });
    expect(chat.readUsage(searching, { model: 'gemini-3.8-flash', usage: hidden })).toMatchObject({
      usage: usageOf({ input: 35, output: 12 }),
      flags: ['usage_inconsistent'],
    });
  });

  it.each([
    ['cached', { cached: 4_735 }, { prompt_tokens: 5, completion_tokens: 10, total_tokens: 4_750 }],
    ['cached', { cached: 4_000 }, { prompt_tokens: 5_000, completion_tokens: 10, total_tokens: 9_010 }],
    ['written', { written: 40 }, { prompt_tokens: 5, completion_tokens: 10, total_tokens: 55 }],
    [
      'cached and written',
      { cached: 30, written: 40 },
      { prompt_tokens: 5, completion_tokens: 10, total_tokens: 85 },
    ],
  ])('counts tokens that were %s next to the prompt as input, not as output', (_name, parts, told) => {
    const { cached = 0, written = 0 } = parts as { cached?: number; written?: number };
    const details = { cached_tokens: cached, cache_write_tokens: written };
    const report = read({ ...told, prompt_tokens_details: details });
    expect(report?.usage).toEqual(
      usageOf({ input: told.prompt_tokens, cachedInput: cached, cacheWrite5m: written, output: 10 }),
    );
    expect(report?.flags).toEqual([]);
  });

  it('counts what tools put in front of the model as input', () => {
    const told = { prompt_tokens: 5, completion_tokens: 10, total_tokens: 315, tool_use_prompt_tokens: 300 };
    expect(read(told)?.usage).toEqual(usageOf({ input: 305, output: 10 }));
  });

  it('flags a rest of the total that nothing explains, and does not count it as output', () => {
    expect(read({ prompt_tokens: 151, completion_tokens: 1_089, total_tokens: 20_689 })).toMatchObject({
      usage: usageOf({ input: 151, output: 1_089 }),
      flags: ['usage_inconsistent'],
    });
    const thinking = { completion_tokens_details: { reasoning_tokens: 30 } };
    // A part of the output, and then above it: only then can it stand beside the output.
    expect(read({ prompt_tokens: 5, completion_tokens: 40, total_tokens: 90, ...thinking })).toMatchObject({
      usage: usageOf({ input: 5, output: 40, reasoning: 30 }),
      flags: ['usage_inconsistent'],
    });
    expect(read({ prompt_tokens: 5, completion_tokens: 4, total_tokens: 90, ...thinking })).toMatchObject({
      usage: usageOf({ input: 5, output: 34, reasoning: 30 }),
      flags: ['usage_inconsistent'],
    });
  });

  it.each([
    ['output', { prompt_tokens: 5, total_tokens: 90 }, ['output']],
    ['input', { completion_tokens: 5, total_tokens: 90 }, ['input']],
    ['both', { total_tokens: 90 }, ['input', 'output']],
  ])(
    'leaves a missing figure to an estimate where the total shows that there is one: %s',
    (_name, told, unread) => {
      expect(read(told)).toMatchObject({ unread, flags: ['usage_inconsistent'] });
    },
  );

  it('a total is never exceeded, whatever the usage object contains', () => {
    const figure = fc.nat(1_000);
    fc.assert(
      fc.property(fc.array(figure, { minLength: 7, maxLength: 7 }), fc.boolean(), (figures, hidden) => {
        const [prompt = 0, completion = 0, total = 0, cached = 0, written = 0, audio = 0, reasoning = 0] =
          figures;
        const told = {
          prompt_tokens: prompt,
          completion_tokens: completion,
          total_tokens: total,
          prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written, audio_tokens: audio },
          completion_tokens_details: { reasoning_tokens: reasoning },
        };
        const { usage } = read(told, hidden ? { model: 'gemini-3.8-flash' } : {}) ?? { usage: usageOf({}) };
        const most = Math.max(total - prompt, completion);
        expect(usage.output).toBeGreaterThanOrEqual(completion);
        expect(usage.output).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('counts audio next to the prompt as input, not as output', () => {
    const usage = { prompt_tokens: 9, completion_tokens: 201, total_tokens: 585 };
    expect(read({ ...usage, prompt_tokens_details: { audio_tokens: 375, cached_tokens: 0 } })?.usage).toEqual(
      usageOf({ input: 384, audioInput: 375, output: 201 }),
    );
  });

  it('flags a cached figure above the prompt', () => {
    const report = read({ prompt_tokens: 5, completion_tokens: 1, cached_tokens: 9 });
    expect(report?.usage).toEqual(usageOf({ input: 0, cachedInput: 9, output: 1 }));
    expect(report?.flags).toEqual(['usage_inconsistent']);
  });

  it('the usage of a chat answer is unknown, not zero, when nothing is reported', () => {
    for (const nothing of [undefined, null, {}, [], 5, { prompt_tokens: null }])
      expect(read(nothing)).toBeNull();
    for (const answer of [null, 'text', [], {}]) expect(chat.readUsage(ask, answer)).toBeNull();
    expect(read({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })?.usage).toEqual(usageOf({}));
  });

  it.each([
    ['of the web', { web_search_calls: 2, x_search_calls: 0, file_search_calls: 4 }, 2],
    ['of X', { web_search_calls: 0, x_search_calls: 3 }, 3],
    ['of both', { web_search_calls: 1, x_search_calls: '3', document_search_calls: 9 }, 4],
    ['that cannot be counted', { web_search_calls: {} }, 1],
  ])('counts searches %s that the provider ran (contract: money/searches)', (_name, calls, searches) => {
    const told = { prompt_tokens: 1, num_sources_used: 9, server_side_tool_usage_details: calls };
    expect(read(told)?.usage.webSearches).toBe(searches);
  });

  it('carries the tier that the answer names and the searches that it reports', () => {
    expect(read({ prompt_tokens: 1 }, { service_tier: 'priority' })?.serviceTier).toBe('priority');
    expect(read({ prompt_tokens: 1 }, { service_tier: '' })?.serviceTier).toBeNull();
    expect(read({ prompt_tokens: 1, num_search_queries: 3 })?.usage.webSearches).toBe(3);
    expect(read({ prompt_tokens: 1, server_tool_use: { web_search_requests: 2 } })?.usage.webSearches).toBe(
      2,
    );
  });
});

describe('the output bytes of a chat answer', () => {
  it('output bytes of a chat are those of text, thinking, refusals and tool calls of every choice', () => {
    const answer = {
      choices: [
        { message: { content: 'é', reasoning_content: 'abc', reasoning: 'abc', refusal: 'no' } },
        { message: { content: null, tool_calls: [{ function: { name: 'f', arguments: '{}' } }] } },
        {
          message: {
            content: [
              { type: 'text', text: 'xy' },
              { type: 'thinking', thinking: [{ text: 'z' }] },
            ],
          },
        },
        { text: 'old' },
        {
          message: {
            function_call: { name: 'g', arguments: '1' },
            audio: { data: 'AAAA', transcript: 'hi' },
          },
        },
      ],
    };
    expect(chat.outputBytes(answer)).toBe(2 + 3 + 2 + 3 + 2 + 1 + 3 + 2 + 2);
    for (const odd of [null, 5, {}, { choices: [null, 5, { message: 7 }] }])
      expect(chat.outputBytes(odd)).toBe(0);
  });
});
