import { describe, expect, it } from 'vitest';
import { messages } from '#lib/core/families/messages';
import { totalUsage, usageOf } from '#lib/core/metering/usage';
import { askMessages } from '#tests/unit/families/messages/make';

const ask = askMessages({ model: 'm' });
const read = (usage: unknown, asked = ask) => messages.readUsage(asked, { usage });

describe('the usage of a whole message (contract: families/cache-writes)', () => {
  it('cache reads and writes are counted next to the uncached input, and thinking inside the output', () => {
    const report = read({
      input_tokens: 3,
      cache_creation_input_tokens: 418,
      cache_read_input_tokens: 1_111,
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 18 },
      output_tokens: 33,
      output_tokens_details: { thinking_tokens: 24 },
      server_tool_use: { web_search_requests: 2, web_fetch_requests: 5 },
      service_tier: 'priority',
    });
    expect(report).toEqual({
      usage: usageOf({
        input: 3,
        cachedInput: 1_111,
        cacheWrite5m: 400,
        cacheWrite1h: 18,
        output: 33,
        reasoning: 24,
        webSearches: 2,
      }),
      serviceTier: 'priority',
      nested: [],
      flags: [],
    });
  });

  const hour = { type: 'ephemeral', ttl: '1h' };
  it.each([
    ['5 minutes where the request says nothing', {}, 1_000, 0],
    ['an hour where every mark says so', { system: [{ cache_control: hour }] }, 0, 1_000],
    [
      '5 minutes where the marks differ',
      { system: [{ cache_control: hour }, { cache_control: { type: 'ephemeral' } }] },
      1_000,
      0,
    ],
    ['5 minutes where only a text speaks of an hour', { system: '{"ttl":"1h"}' }, 1_000, 0],
  ])('counts undivided writes as kept for %s', (_name, fields, minutes, hours) => {
    const asked = askMessages({ model: 'm', ...fields });
    const report = read({ input_tokens: 1, cache_creation_input_tokens: 1_000 }, asked);
    expect(report?.usage).toEqual(usageOf({ input: 1, cacheWrite5m: minutes, cacheWrite1h: hours }));
  });

  it('counts the remainder of divided writes too, and never more than the total', () => {
    const divided = { ephemeral_5m_input_tokens: 3_000, ephemeral_1h_input_tokens: 68 };
    const more = read({ cache_creation_input_tokens: 3_337, cache_creation: divided });
    expect(more?.usage).toEqual(usageOf({ cacheWrite5m: 3_269, cacheWrite1h: 68 }));
    const less = read({ cache_creation_input_tokens: 3_010, cache_creation: divided });
    expect(less?.usage).toEqual(usageOf({ cacheWrite5m: 3_000, cacheWrite1h: 10 }));
    expect(less?.flags).toEqual(['usage_inconsistent']);
    expect(read({ input_tokens: 1, cache_creation: divided })?.usage).toEqual(
      usageOf({ input: 1, cacheWrite5m: 3_000, cacheWrite1h: 68 }),
    );
  });

  it('names the faster inference as the tier', () => {
    expect(read({ input_tokens: 1, service_tier: 'standard', speed: 'fast' })?.serviceTier).toBe('fast');
    expect(read({ input_tokens: 1, speed: 'standard' })?.serviceTier).toBe('standard');
    expect(read({ input_tokens: 1, service_tier: 'priority', speed: 'fast' })?.serviceTier).toBe(
      'fast+priority',
    );
  });

  it('the tier names the region of inference if it costs more', () => {
    const tierIn = (usage: object) =>
      read({ input_tokens: 1, service_tier: 'standard', ...usage })?.serviceTier;
    expect(tierIn({ inference_geo: 'us' })).toBe('us');
    expect(tierIn({ inference_geo: 'us', speed: 'fast' })).toBe('fast+us');
    expect(tierIn({ inference_geo: 'global' })).toBe('standard');
    expect(tierIn({ inference_geo: 'not_available' })).toBe('standard');
    expect(askMessages({ model: 'm', inference_geo: 'us', speed: 'fast' }).serviceTier).toBe('fast+us');
    expect(askMessages({ model: 'm', inference_geo: 'global' }).serviceTier).toBeNull();
  });

  it('the requested speed counts if the answer names none', () => {
    const fast = askMessages({ model: 'm', speed: 'fast' });
    expect(read({ input_tokens: 1, service_tier: 'standard' }, fast)?.serviceTier).toBe('fast');
    expect(read({ input_tokens: 1, speed: 'standard' }, fast)?.serviceTier).toBe('standard');
  });

  it('unreadable figures of a pass count as those of the whole call', () => {
    const advisor = { type: 'advisor_message', model: 'other', input_tokens: {}, output_tokens: '-3' };
    const told = {
      input_tokens: 10,
      cache_read_input_tokens: 90,
      output_tokens: 7,
      iterations: [{}, advisor],
    };
    const report = read(told);
    expect(report?.nested).toEqual([{ upstreamModel: 'other', usage: usageOf({ input: 100, output: 7 }) }]);
    expect(report?.flags).toEqual(['usage_unreadable', 'usage_negative']);
  });

  it('the usage of a message is unknown, not zero, when nothing is reported', () => {
    for (const nothing of [undefined, null, {}, [], 5, { input_tokens: null, service_tier: 'standard' }])
      expect(read(nothing)).toBeNull();
    expect(messages.readUsage(ask, { input_tokens: 43 })).toBeNull();
    expect(read({ input_tokens: 0, output_tokens: 0 })?.usage).toEqual(usageOf({}));
  });
});

describe('passes of a call (contract: families/iterations)', () => {
  const pass = (type: string, input: number, output: number, model?: string) => ({
    type,
    ...(model ? { model } : {}),
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  });

  it('passes of a compaction are added to the model’s own usage', () => {
    const report = read({
      input_tokens: 220,
      output_tokens: 10,
      iterations: [pass('compaction', 55_196, 300), pass('message', 220, 10)],
    });
    expect(report?.usage).toEqual(usageOf({ input: 55_416, output: 310 }));
    expect(report?.nested).toEqual([]);
  });

  it('passes of an advisor are added up under the advisor’s model', () => {
    const report = read({
      input_tokens: 100,
      output_tokens: 20,
      iterations: [
        pass('message', 100, 20),
        pass('advisor_message', 1_000, 40, 'big'),
        pass('advisor_message', 1_100, 50, 'big'),
      ],
    });
    expect(report?.usage).toEqual(usageOf({ input: 100, output: 20 }));
    expect(report?.nested).toEqual([{ upstreamModel: 'big', usage: usageOf({ input: 2_100, output: 90 }) }]);
    expect(report && totalUsage(report)).toEqual(usageOf({ input: 2_200, output: 110 }));
  });

  it('passes of a fallback that answered are attributed to it, thinking included; one that declined costs nothing', () => {
    const report = read({
      input_tokens: 412,
      cache_read_input_tokens: 0,
      output_tokens: 264,
      output_tokens_details: { thinking_tokens: 30 },
      iterations: [
        pass('message', 408, 0, 'first'),
        pass('fallback_message', 410, 0, 'second'),
        pass('fallback_message', 412, 264, 'third'),
      ],
    });
    expect(report?.usage).toEqual(usageOf({}));
    expect(report?.nested).toEqual([
      { upstreamModel: 'third', served: true, usage: usageOf({ input: 412, output: 264, reasoning: 30 }) },
    ]);
  });

  it('passes never move more than the totals contain, whatever a list says', () => {
    const report = read({
      input_tokens: 10,
      output_tokens: 5,
      iterations: [pass('fallback_message', 900, 7, 'other'), null, 3, { type: 'advisor_message' }],
    });
    expect(report && totalUsage(report)).toEqual(usageOf({ input: 10, output: 5 }));
  });
});

describe('the output bytes of a message', () => {
  it('are those of text, thinking and tool calls, not of results', () => {
    const content = [
      { type: 'thinking', thinking: 'abc', signature: 'zzzzzz' },
      { type: 'text', text: 'é' },
      { type: 'tool_use', name: 'f', input: { a: 1 } },
      { type: 'server_tool_use', name: 'web', input: {} },
      { type: 'web_search_tool_result', content: [{ title: 'long title' }] },
      { type: 'mcp_tool_result', content: [{ type: 'text', text: 'result' }] },
    ];
    expect(messages.outputBytes({ content })).toBe(3 + 2 + 1 + 7 + 3 + 2);
    for (const odd of [null, 5, {}, { content: [null, 5, { type: 'text', text: 7 }] }])
      expect(messages.outputBytes(odd)).toBe(0);
  });
});
