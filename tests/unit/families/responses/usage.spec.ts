import { describe, expect, it } from 'vitest';
import { responses } from '#lib/core/families/responses';
import { usageOf } from '#lib/core/metering/usage';
import { askResponse, operationNamed } from '#tests/unit/families/responses/make';

const ask = askResponse({ model: 'm' });
const read = (answer: object, asked = ask) => responses.readUsage(asked, answer);
const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

describe('the usage of a response', () => {
  it('has cached and newly cached tokens inside the input, reasoning inside the output', () => {
    const report = read({
      service_tier: 'priority',
      usage: {
        input_tokens: 4_020,
        input_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 3_000 },
        output_tokens: 33,
        output_tokens_details: { reasoning_tokens: 24 },
        total_tokens: 4_053,
      },
    });
    expect(report).toEqual({
      usage: usageOf({ input: 20, cachedInput: 1_000, cacheWrite5m: 3_000, output: 33, reasoning: 24 }),
      serviceTier: 'priority',
      nested: [],
      flags: [],
    });
  });

  it('flags parts that are more than the whole, and a total that nothing explains', () => {
    const more = { ...usage, input_tokens_details: { cached_tokens: 11 } };
    expect(read({ usage: more })).toMatchObject({ usage: { input: 0 }, flags: ['usage_inconsistent'] });
    expect(read({ usage: { ...usage, total_tokens: 99 } })).toMatchObject({
      usage: usageOf({ input: 10, output: 5 }),
      flags: ['usage_inconsistent'],
    });
  });

  it('counts cached input and reasoning that stand beside the two figures', () => {
    const cached = { ...usage, total_tokens: 4_015, input_tokens_details: { cached_tokens: 4_000 } };
    expect(read({ usage: cached })?.usage).toEqual(usageOf({ input: 10, cachedInput: 4_000, output: 5 }));
    const thinking = { ...usage, total_tokens: 35, output_tokens_details: { reasoning_tokens: 20 } };
    expect(read({ usage: thinking })?.usage).toEqual(usageOf({ input: 10, output: 25, reasoning: 20 }));
  });

  it('counts searches of the web and of X that the usage reports (contract: money/searches)', () => {
    const details = { web_search_calls: 1, x_search_calls: 3, file_search_calls: 7, mcp_calls: 2 };
    const output = [{ type: 'web_search_call', action: { type: 'search' } }];
    const told = { ...usage, num_server_side_tools_used: 13, server_side_tool_usage_details: details };
    expect(read({ usage: told, output })?.usage.webSearches).toBe(4);
  });

  it('is unknown, not zero, when nothing is reported', () => {
    for (const nothing of [undefined, null, {}, [], 5, { input_tokens: null }]) {
      expect(read({ usage: nothing })).toBeNull();
    }
    expect(responses.readUsage(ask, null)).toBeNull();
    expect(read({ usage: { input_tokens: 0, output_tokens: 0 } })?.usage).toEqual(usageOf({}));
  });
});

describe('searches', () => {
  const output = [
    { type: 'web_search_call', action: { type: 'search', query: 'a' } },
    { type: 'web_search_call', action: { type: 'open_page' } },
    { type: 'web_search_call', action: { type: 'search' } },
    { type: 'file_search_call' },
    null,
  ];

  it('are those that the answer reports', () => {
    const tool_usage = { web_search: { num_requests: 7 } };
    expect(read({ usage, output, tool_usage })?.usage.webSearches).toBe(7);
  });

  it('are else the calls that searched', () => {
    expect(read({ usage, output })?.usage.webSearches).toBe(2);
    expect(read({ usage, output, tool_usage: { web_search: null } })?.usage.webSearches).toBe(2);
  });
});

describe('an image tool', () => {
  const image_gen = {
    input_tokens: 100,
    input_tokens_details: { text_tokens: 40, image_tokens: 60 },
    output_tokens: 280,
    output_tokens_details: { text_tokens: 8, image_tokens: 272 },
    total_tokens: 380,
  };
  const drawn = { usage, tool_usage: { image_gen }, output: [{ type: 'image_generation_call', id: 'ig' }] };
  const tools = [{ type: 'function' }, { type: 'image_generation', model: 'images-1' }];

  it('used tokens of a model of its own, as the answer names it', () => {
    expect(read({ ...drawn, tools })).toMatchObject({
      usage: usageOf({ input: 10, output: 5 }),
      nested: [
        {
          upstreamModel: 'images-1',
          usage: usageOf({ input: 100, imageInput: 60, output: 280, imageOutput: 272, images: 1 }),
        },
      ],
    });
  });

  it('counts cached tokens separately from its input', () => {
    const cached = {
      cached_tokens: 30,
      cached_tokens_details: { cached_image_tokens: 20, cached_text_tokens: 10 },
    };
    const answer = { usage, tool_usage: { image_gen: { ...image_gen, ...cached } } };
    expect(read(answer)?.nested[0]?.usage).toMatchObject({ input: 70, cachedInput: 30, imageInput: 40 });
  });

  it('counts all output as image where the answer does not divide it', () => {
    const { output_tokens_details: _gone, ...undivided } = image_gen;
    const nested = read({ usage, tool_usage: { image_gen: undivided } })?.nested;
    expect(nested?.[0]?.usage).toMatchObject({ output: 280, imageOutput: 280 });
  });

  it('goes by the name that was asked for, or by the vendor’s default, where the answer repeats none', () => {
    const asked = askResponse({ model: 'm', tools: [{ type: 'image_generation', model: 'v/images' }] });
    expect(read(drawn, asked)?.nested[0]?.upstreamModel).toBe('v/images');
    expect(read(drawn)?.nested[0]?.upstreamModel).toBe('gpt-image-2');
  });

  it('that did nothing is not listed', () => {
    const zero = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
    expect(read({ usage, tool_usage: { image_gen: zero }, tools })?.nested).toEqual([]);
    expect(read({ usage, tools })?.nested).toEqual([]);
  });

  it('is counted in images where no tokens are reported', () => {
    const { tool_usage: _gone, ...older } = drawn;
    expect(read({ ...older, tools })?.nested).toEqual([
      { upstreamModel: 'images-1', usage: usageOf({ images: 1 }) },
    ]);
  });
});

describe('the output bytes of a response', () => {
  it('are those of text, reasoning and calls, not of results and pictures', () => {
    const output = [
      { type: 'reasoning', summary: [{ text: 'abc' }], encrypted_content: 'zzzz' },
      { type: 'message', content: [{ text: 'é' }, { refusal: 'no' }] },
      { type: 'function_call', name: 'f', arguments: '{"a":1}' },
      { type: 'custom_tool_call', name: 'g', input: 'xy' },
      { type: 'image_generation_call', result: 'QUJD' },
      { type: 'mcp_call', output: 'long result', name: 'h', arguments: '' },
    ];
    expect(responses.outputBytes({ output })).toBe(3 + 2 + 2 + 1 + 7 + 1 + 2 + 1);
    for (const odd of [null, 5, {}, { output: [null, 5, { content: 7 }] }]) {
      expect(responses.outputBytes(odd)).toBe(0);
    }
  });
});

describe('what an answer shows', () => {
  const shown = (answer: unknown) => responses.shown?.(operationNamed('responses.retrieve'), answer);

  it('is the response, its conversation and every item with an id', () => {
    const output = [{ id: 'rs_1', type: 'reasoning' }, { type: 'message' }, { id: 'msg_1' }];
    expect(shown({ id: 'resp_1', object: 'response', conversation: { id: 'conv_1' }, output })).toEqual([
      { kind: 'response', id: 'resp_1' },
      { kind: 'conversation', id: 'conv_1' },
      { kind: 'item', id: 'rs_1' },
      { kind: 'item', id: 'msg_1' },
    ]);
    const failed = { id: 'resp_1', object: 'response', error: { code: 'x' }, output: [] };
    expect(shown(failed)).toEqual([{ kind: 'response', id: 'resp_1' }]);
  });

  it('is a container that a tool ran in', () => {
    const output = [
      { id: 'ci_1', type: 'code_interpreter_call', container_id: 'cntr_1' },
      {
        id: 'sh_1',
        type: 'shell_call',
        environment: { type: 'container_reference', container_id: 'cntr_2' },
      },
    ];
    expect(shown({ object: 'response', output })?.map(({ id }) => id)).toEqual([
      'ci_1',
      'cntr_1',
      'sh_1',
      'cntr_2',
    ]);
  });

  it('is every item of a list of them', () => {
    expect(shown({ object: 'list', data: [{ id: 'a' }, {}, { id: 'b' }] })).toEqual([
      { kind: 'item', id: 'a' },
      { kind: 'item', id: 'b' },
    ]);
  });

  it('is 0 in an error or in malformed answers', () => {
    for (const odd of [null, 5, [], {}, { error: { message: 'x' }, id: 'resp_1' }])
      expect(shown(odd)).toEqual([]);
  });
});

describe('a job', () => {
  const sight = (answer: unknown, facts = {}) => responses.jobs?.read(facts, answer);
  it.each([
    ['queued', 'queued'],
    ['in_progress', 'running'],
    ['completed', 'completed'],
    ['incomplete', 'completed'],
    ['failed', 'failed'],
    ['cancelled', 'cancelled'],
  ])('%s at the provider is %s', (status, state) => {
    expect(sight({ object: 'response', status, usage: null })).toEqual({ state, report: null, view: null });
  });

  it('has its usage once it is reported, its image tool’s under the requested name', () => {
    const image_gen = { input_tokens: 1, output_tokens: 2 };
    const done = { object: 'response', status: 'completed', usage, tool_usage: { image_gen } };
    expect(sight(done, { imageModel: 'v/images' })).toMatchObject({
      state: 'completed',
      report: { usage: { input: 10, output: 5 }, nested: [{ upstreamModel: 'v/images' }] },
    });
  });

  it('is not seen in anything else', () => {
    for (const odd of [
      null,
      {},
      { error: {} },
      { object: 'response' },
      { object: 'response', status: 'new' },
    ]) {
      expect(sight(odd)).toBeNull();
    }
  });
});
