import { describe, expect, it } from 'vitest';
import { chat } from '#lib/families/chat';
import { usageOf } from '#lib/metering/usage';
import { askChat } from '#tests/unit/families/make';

const ask = askChat({ model: 'm' });
const read = (usage: unknown, rest: object = {}) => chat.readUsage(ask, { ...rest, usage });

describe('the usage of a chat answer', () => {
  it('parts cached reads and writes from the input', () => {
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
    expect(read({ prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 })?.usage.output).toBe(74);
  });

  it('counts audio next to the prompt as input, not as output', () => {
    const usage = { prompt_tokens: 9, completion_tokens: 201, total_tokens: 585 };
    expect(read({ ...usage, prompt_tokens_details: { audio_tokens: 375, cached_tokens: 0 } })?.usage).toEqual(
      usageOf({ input: 384, audioInput: 375, output: 201 }),
    );
  });

  it('counts a figure that is negative or no integer as 0 and flags it', () => {
    const negative = read({ prompt_tokens: -5, completion_tokens: 7 });
    expect(negative?.usage).toEqual(usageOf({ output: 7 }));
    expect(negative?.flags).toEqual(['usage_negative']);
    for (const odd of [1.5, '7', true, {}, Number.POSITIVE_INFINITY]) {
      const report = read({ prompt_tokens: odd, completion_tokens: 7 });
      expect(report?.usage).toEqual(usageOf({ output: 7 }));
      expect(report?.flags).toEqual(['usage_not_integer']);
    }
  });

  it('flags a cached figure above the prompt', () => {
    const report = read({ prompt_tokens: 5, completion_tokens: 1, cached_tokens: 9 });
    expect(report?.usage).toEqual(usageOf({ input: 0, cachedInput: 9, output: 1 }));
    expect(report?.flags).toEqual(['usage_inconsistent']);
  });

  it('is unknown, not zero, when nothing is reported', () => {
    for (const nothing of [undefined, null, {}, [], 5, { prompt_tokens: null }])
      expect(read(nothing)).toBeNull();
    for (const answer of [null, 'text', [], {}]) expect(chat.readUsage(ask, answer)).toBeNull();
    expect(read({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })?.usage).toEqual(usageOf({}));
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
  it('are those of text, thinking, refusals and tool calls of every choice', () => {
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
