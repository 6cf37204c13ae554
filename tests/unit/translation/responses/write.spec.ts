import { createOpenAI } from '@ai-sdk/openai';
import fc from 'fast-check';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import { describe, expect, test } from 'vitest';
import { responses } from '#lib/core/families/responses';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import { type AnswerPart, isUnreadable, type WholeAnswer } from '#lib/core/translation/conversation';
import { read } from '#lib/core/translation/responses/read';
import { createWriter, writeWhole } from '#lib/core/translation/responses/write';
import { markThinking } from '#lib/core/translation/thinking-mark';
import { askResponse } from '#tests/unit/families/responses/make';
import {
  answering,
  callParts,
  finish,
  makeFacts,
  makeUsage,
  mixedAnswer,
  textParts,
} from '#tests/unit/translation/answers';
import { clientOf, framesOf, readStream, writeParts } from '#tests/unit/translation/openai/streams';

const facts = makeFacts({
  echo: {
    request: { instructions: 'be brief', temperature: 0.5 },
    toolsByName: {
      patch: { name: 'patch', namespace: null, custom: true },
      mcp__files__read: { name: 'read', namespace: 'mcp__files', custom: false },
    },
  },
});
const ask = askResponse({ model: 'm', stream: true });

async function sdkResponse(text: string, size = 7): Promise<Response> {
  return await clientOf(text, size).responses.stream({ model: 'm', input: 'a' }).finalResponse();
}

function eventsOf(text: string): ResponseStreamEvent[] {
  return framesOf(text).map(({ data }) => JSON.parse(data));
}

const usage = makeUsage({ input: 100, cacheRead: 40, cacheWrite: 10, output: 30, reasoning: 12 });
const wantedUsage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 130,
};

describe('a streamed response', () => {
  const parts: readonly AnswerPart[] = [
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'upstream' },
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'hm' },
    { type: 'reasoning-end', id: '0' },
    ...textParts('1', 'Hel', 'lo'),
    ...callParts('a', 'mcp__files__read', '{"x":', '1}'),
    ...callParts('b', 'patch', '{"input":"', '***"}'),
    finish('tool-calls', usage),
  ];

  test('Thinking, text and calls arrive at the official client as items, with the usage.', async () => {
    const text = writeParts(createWriter(facts), ...parts);
    const response = await sdkResponse(text);
    expect(response).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'vendor/name',
      instructions: 'be brief',
      temperature: 0.5,
      output_text: 'Hello',
      usage: wantedUsage,
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello' }],
        },
        { type: 'function_call', call_id: 'a', name: 'read', namespace: 'mcp__files', arguments: '{"x":1}' },
        { type: 'custom_tool_call', call_id: 'b', name: 'patch', input: '***' },
      ],
    });
    const reader = readStream(responses.streamReader(ask), text);
    expect(reader.ended && reader.finished && !reader.failed).toBe(true);
    expect(reader.report()?.usage).toMatchObject({
      input: 50,
      cachedInput: 40,
      cacheWrite5m: 10,
      output: 30,
      reasoning: 12,
    });
  });

  test('Events have their names, are numbered without gaps and come in the order of the protocol.', () => {
    const text = writeParts(createWriter(facts), ...parts);
    const events = eventsOf(text);
    expect(events.map((event) => 'sequence_number' in event && event.sequence_number)).toEqual(
      events.map((_, n) => n),
    );
    expect(framesOf(text).map(({ name }) => name)).toEqual(events.map(({ type }) => type));
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.added',
      'custom_tool_call_input.delta',
      'custom_tool_call_input.done',
      'output_item.done',
      'completed',
    ]);
  });

  test('A text that is still open when a call begins is an item that is done before it.', () => {
    const text = writeParts(
      createWriter(facts),
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'a' },
      ...callParts('c', 'one', '{}'),
      { type: 'text-delta', id: '0', delta: 'b' },
      { type: 'text-end', id: '0' },
      finish(),
    );
    const items = eventsOf(text).flatMap((event) =>
      event.type === 'response.output_item.added' || event.type === 'response.output_item.done'
        ? `${event.type.slice(21)} ${event.item.type} ${event.output_index}`
        : [],
    );
    expect(items).toEqual([
      'added message 0',
      'done message 0',
      'added function_call 1',
      'done function_call 1',
      'added message 2',
      'done message 2',
    ]);
  });

  test('Nothing is sent before the provider has answered; a ping keeps the connection.', () => {
    const writer = createWriter(facts);
    expect(writer.write({ type: 'stream-start', warnings: [] })).toBe('');
    expect(writer.write({ type: 'ping' })).toBe(': keep-alive\n\n');
    expect(writer.write({ type: 'raw', rawValue: {} })).toBe('');
  });

  test.each([
    ['stop', 'completed', null],
    ['tool-calls', 'completed', null],
    ['other', 'completed', null],
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content-filter', 'incomplete', { reason: 'content_filter' }],
  ] as const)('An answer that ended with "%s" is %s.', (unified, status, details) => {
    const events = eventsOf(writeParts(createWriter(facts), ...textParts('0', 'a'), finish(unified)));
    expect(events.at(-1)).toMatchObject({
      type: `response.${status}`,
      response: { status, incomplete_details: details },
    });
  });

  test('A call that was cut off by the budget is incomplete.', () => {
    const text = writeParts(
      createWriter(facts),
      { type: 'tool-input-start', id: 'a', toolName: 'one' },
      { type: 'tool-input-delta', id: 'a', delta: '{"x":' },
      finish('length'),
    );
    expect(eventsOf(text).at(-1)).toMatchObject({
      response: { output: [{ type: 'function_call', status: 'incomplete', arguments: '{"x":' }] },
    });
  });

  test('After an error of the provider the client gets its words, and the response has failed.', async () => {
    const writer = createWriter(facts);
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    const text = writeParts(writer, ...textParts('0', 'a'), { type: 'error', error }, finish());
    await expect(sdkResponse(text)).rejects.toThrow('Overloaded');
    const events = eventsOf(text);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['response.failed', 'error']);
    expect(events.map((event) => 'sequence_number' in event && event.sequence_number)).toEqual(
      events.map((_, n) => n),
    );
    expect(readStream(responses.streamReader(ask), text).failed).toBe(true);
    expect(writer.breakOff('again')).toBe('');
  });

  test('A stream that was interrupted, or failed at its end or at once, is no answer.', async () => {
    for (const unified of ['interrupted', 'error'] as const) {
      const text = writeParts(createWriter(facts), ...textParts('0', 'a'), finish(unified));
      await expect(sdkResponse(text)).rejects.toThrow('provider');
    }
    await expect(sdkResponse(createWriter(facts).breakOff('Gone.'))).rejects.toThrow('Gone.');
  });

  test('Calls to which the provider gave the same id are told apart.', async () => {
    const parts = [
      ...callParts('a', 'one', '{"x":1}'),
      ...callParts('a', 'two', '{"x":2}'),
      finish('tool-calls'),
    ];
    const response = await sdkResponse(writeParts(createWriter(facts), ...parts));
    expect(response.output).toMatchObject([
      { call_id: 'a', name: 'one', arguments: '{"x":1}' },
      { call_id: 'a_2', name: 'two', arguments: '{"x":2}' },
    ]);
  });

  test('Thinking that is signed and does not end has its mark at the end of the answer.', async () => {
    const start = {
      type: 'reasoning-start',
      id: '0',
      providerMetadata: { anthropic: { redactedData: 'r' } },
    } as const;
    const response = await sdkResponse(
      writeParts(createWriter(facts), start, ...textParts('1', 'a'), finish()),
    );
    expect(response.output.find(({ type }) => type === 'reasoning')).toHaveProperty('encrypted_content');
  });

  test('A search of the provider is an item of its own; its sources are cited.', async () => {
    const source = (url: string) =>
      ({ type: 'source', sourceType: 'url', id: url, url, title: 'T' }) as const;
    const text = writeParts(
      createWriter(facts),
      { type: 'tool-input-start', id: 'ws', toolName: 'web_search', providerExecuted: true },
      {
        type: 'tool-call',
        toolCallId: 'ws',
        toolName: 'web_search',
        input: '{"query":"rain"}',
        providerExecuted: true,
      },
      source('https://b.example/'),
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'It rains.' },
      {
        type: 'text-end',
        id: '0',
        citations: [{ source: source('https://a.example/'), startIndex: 0, endIndex: 9 }],
      },
      finish(),
    );
    const numbers = eventsOf(text).flatMap((event) =>
      event.type === 'response.output_text.annotation.added' ? event.annotation_index : [],
    );
    expect(numbers).toEqual([0, 1]);
    expect((await sdkResponse(text)).output).toMatchObject([
      { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'rain' } },
      {
        content: [
          {
            text: 'It rains.',
            annotations: [
              { type: 'url_citation', url: 'https://a.example/', title: 'T', start_index: 0, end_index: 9 },
              { type: 'url_citation', url: 'https://b.example/' },
            ],
          },
        ],
      },
    ]);
  });
});

describe('signed thinking over two turns of responses', () => {
  const call: AnswerPart = {
    type: 'tool-call',
    toolCallId: 'a',
    toolName: 'one',
    input: '{"x":1}',
    providerMetadata: { google: { thoughtSignature: 'ts' } },
  };
  const parts: readonly AnswerPart[] = [
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'first ' },
    { type: 'reasoning-delta', id: '0', delta: 'thought' },
    { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { anthropic: { signature: 's1' } } },
    { type: 'reasoning-end', id: '0' },
    { type: 'reasoning-start', id: '1', providerMetadata: { anthropic: { redactedData: 'r' } } },
    { type: 'reasoning-end', id: '1' },
    ...textParts('2', 'I call.'),
    {
      type: 'tool-input-start',
      id: 'a',
      toolName: 'one',
      ...(call.providerMetadata && { providerMetadata: call.providerMetadata }),
    },
    { type: 'tool-input-delta', id: 'a', delta: '{"x":1}' },
    call,
    finish('tool-calls'),
  ];
  const whole: WholeAnswer = {
    content: [
      { type: 'reasoning', text: 'first thought', providerMetadata: { anthropic: { signature: 's1' } } },
      { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'r' } } },
      { type: 'text', text: 'I call.' },
      call,
    ],
    finishReason: { unified: 'tool-calls', raw: 'x' },
    usage,
  };

  function nextTurn(output: readonly unknown[], maker: string): unknown {
    const result = { type: 'function_call_output', call_id: 'a', output: 'done' };
    const request = read({ input: [{ role: 'user', content: 'go' }, ...output, result] });
    if (isUnreadable(request)) throw new Error(request.message);
    return bindThinking(request.conversation, maker).prompt[1]?.content;
  }

  const wanted = [
    { type: 'reasoning', text: 'first thought', providerOptions: { anthropic: { signature: 's1' } } },
    { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: 'r' } } },
    { type: 'text', text: 'I call.' },
    {
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'one',
      input: { x: 1 },
      providerOptions: { google: { thoughtSignature: 'ts' } },
    },
  ];

  test('Streamed, each block goes back with its text and signature, and the call with its own.', async () => {
    const items = eventsOf(writeParts(createWriter(facts), ...parts)).flatMap((event) =>
      event.type === 'response.output_item.done' ? event.item : [],
    );
    expect(nextTurn(items, 'vendor')).toEqual(wanted);
    expect(items.map(({ type }) => type)).toEqual([
      'reasoning',
      'reasoning',
      'message',
      'reasoning',
      'function_call',
    ]);
  });

  test('In one piece, the same goes back, and another maker gets none of it.', () => {
    const { output } = writeWhole(whole, facts);
    expect(Array.isArray(output) && nextTurn(output, 'vendor')).toEqual(wanted);
    expect(Array.isArray(output) && nextTurn(output, 'other')).toEqual([
      wanted[2],
      { type: 'tool-call', toolCallId: 'a', toolName: 'one', input: { x: 1 }, providerOptions: {} },
    ]);
  });

  test('Thinking that was cut by another block is not signed twice.', () => {
    const text = writeParts(
      createWriter(facts),
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'a' },
      ...textParts('1', 'b'),
      { type: 'reasoning-end', id: '0', providerMetadata: { anthropic: { signature: 's' } } },
      finish(),
    );
    const signed = markThinking({ maker: facts.maker, metadata: { anthropic: { signature: 's' } } });
    expect(text).not.toContain(signed);
    expect(text).toContain(markThinking({ maker: facts.maker, metadata: {} }));
  });
});

describe('a response in one piece', () => {
  test('The official client reads it as its type says.', async () => {
    const body = writeWhole(
      {
        content: [
          { type: 'text', text: 'Hello' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'one', input: '{"x":1}' },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_use' },
        usage,
        providerMetadata: { openai: { serviceTier: 'flex' } },
      },
      facts,
    );
    const client = clientOf(JSON.stringify(body), 7, 'application/json');
    const response = await client.responses.create({ model: 'm', input: 'a' });
    expect(response).toMatchObject({
      status: 'completed',
      output_text: 'Hello',
      service_tier: 'flex',
      usage: wantedUsage,
      output: [
        { type: 'message' },
        { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"x":1}' },
      ],
    });
    expect(responses.readUsage(ask, body)?.usage).toMatchObject({ input: 50, cachedInput: 40, output: 30 });
  });

  test('An answer that failed is a response that failed.', () => {
    const body = writeWhole({ content: [], finishReason: { unified: 'error', raw: 'X' }, usage }, facts);
    expect(body).toMatchObject({
      status: 'failed',
      error: { message: 'The provider ended its answer with "X".' },
    });
  });
});

test('Any mix of parts is a stream with the text, calls and usage of the parts.', async () => {
  const property = fc.asyncProperty(
    mixedAnswer,
    fc.integer({ min: 1, max: 40 }),
    async ({ parts, expected }, size) => {
      const text = writeParts(createWriter(makeFacts()), ...parts, finish('stop', usage));
      const response = await sdkResponse(text, size);
      const calls = response.output.flatMap((item) =>
        item.type === 'function_call'
          ? { id: item.call_id, name: item.name, args: JSON.parse(item.arguments) }
          : [],
      );
      expect([...response.output_text].sort()).toEqual([...expected.text].sort());
      expect(calls.sort((a, b) => a.id.localeCompare(b.id))).toEqual(expected.calls);
      expect(response.usage).toEqual(wantedUsage);
      expect(wellFormed(eventsOf(text))).toEqual([]);
      const reader = readStream(responses.streamReader(ask), text);
      expect(reader.ended && reader.finished && !reader.failed).toBe(true);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

test('The AI SDK as a client reads any mix of parts without an error.', async () => {
  const property = fc.asyncProperty(mixedAnswer, async ({ parts, expected }) => {
    const text = writeParts(createWriter(facts), ...parts, finish('stop', usage));
    const fetch = answering(text, 'text/event-stream', 99);
    const model = createOpenAI({ apiKey: 'k', fetch }).responses('m');
    const { stream } = await model.doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
    });
    const read: AnswerPart[] = [];
    for await (const part of stream) read.push(part);
    expect(read.filter(({ type }) => type === 'error')).toEqual([]);
    const calls = read.flatMap((part) =>
      part.type === 'tool-call'
        ? { id: part.toolCallId, name: part.toolName, args: JSON.parse(part.input) }
        : [],
    );
    expect(calls.sort((a, b) => a.id.localeCompare(b.id))).toEqual(expected.calls);
    expect(read.at(-1)).toMatchObject({
      finishReason: { unified: expected.calls.length > 0 ? 'tool-calls' : 'stop' },
      usage: {
        inputTokens: { total: 100, cacheRead: 40, cacheWrite: 10 },
        outputTokens: { total: 30, reasoning: 12 },
      },
    });
  });
  await fc.assert(property, { numRuns: 50 });
});

/** What is wrong with the order of events: each item is added, then its deltas come, then it is done, with all of them. */
function wellFormed(events: readonly ResponseStreamEvent[]): string[] {
  const open = new Map<number, string>();
  const wrong: string[] = [];
  let added = 0;
  for (const event of events) {
    if (event.type === 'response.output_item.added') {
      if (event.output_index !== added) wrong.push(`item ${event.output_index} is added as number ${added}`);
      added += 1;
      open.set(event.output_index, '');
    } else if ('output_index' in event && !open.has(event.output_index))
      wrong.push(`${event.type} of no open item`);
    if (
      event.type === 'response.output_text.delta' ||
      event.type === 'response.function_call_arguments.delta'
    ) {
      open.set(event.output_index, (open.get(event.output_index) ?? '') + event.delta);
    }
    if (event.type !== 'response.output_item.done') continue;
    const { item, output_index } = event;
    const said = open.get(output_index);
    const whole =
      item.type === 'message'
        ? item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('')
        : item.type === 'function_call'
          ? item.arguments
          : '';
    if (whole !== said) wrong.push(`item ${output_index} has "${whole}", its deltas "${said}"`);
    open.delete(output_index);
  }
  return [...wrong, ...[...open.keys()].map((index) => `item ${index} is never done`)];
}
