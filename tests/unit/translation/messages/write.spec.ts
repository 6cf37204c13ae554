import Anthropic from '@anthropic-ai/sdk';
import type { Message } from '@anthropic-ai/sdk/resources/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { Ask } from '#lib/core/families/family';
import { messages } from '#lib/core/families/messages';
import { scan } from '#lib/core/families/scan';
import type { AnswerFacts, AnswerPart } from '#lib/core/translation/conversation';
import { fromClientId } from '#lib/core/translation/messages/call-id';
import { createWriter, writeWhole } from '#lib/core/translation/messages/write';
import { readMark } from '#lib/core/translation/thinking-mark';
import {
  answering,
  callParts,
  finish,
  makeFacts,
  makeUsage,
  mixedAnswer,
  textParts,
  writeAll,
} from '#tests/unit/translation/answers';

const thinkingFacts = makeFacts({ echo: { thinking: true } });

function ask(): Ask {
  const [operation] = messages.operations;
  if (!operation) throw new Error('the family has an operation');
  const scanned = scan(Buffer.from('{"model":"m","max_tokens":9}'), operation.fields ?? {});
  if ('fault' in scanned) throw new Error(scanned.fault);
  const read = messages.readAsk({ operation, params: {}, scan: scanned });
  if (isRefusal(read)) throw new Error(read.message);
  return read;
}

/** The stream as the official SDK reads it. */
async function readWithSdk(stream: string, size?: number): Promise<Message> {
  const client = new Anthropic({
    apiKey: 'k',
    maxRetries: 0,
    fetch: answering(stream, 'text/event-stream', size),
  });
  return client.messages.stream({ model: 'm', max_tokens: 9, messages: [] }).finalMessage();
}

function eventsOf(stream: string): { event: string; data: Record<string, unknown> }[] {
  return stream
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? [];
      return { event: name, data: JSON.parse(data) };
    });
}

function write(parts: readonly AnswerPart[], facts: AnswerFacts = makeFacts()): string {
  return writeAll(createWriter(facts), parts);
}

describe('a streamed answer in the messages protocol', () => {
  it('has the events of the protocol in their order, with one message_start', () => {
    const stream = write([{ type: 'stream-start', warnings: [] }, ...textParts('0', 'Hel', 'lo'), finish()]);
    const events = eventsOf(stream);
    expect(events.map(({ event }) => event)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(events.every(({ event, data }) => data.type === event)).toBe(true);
    expect(events[0]?.data).toMatchObject({
      message: {
        id: 'msg_0198a3c4-0000-7000-8000-000000000001',
        model: 'vendor/name',
        usage: { input_tokens: 11 },
      },
    });
  });

  it('begins when the provider has said something', () => {
    const writer = createWriter(makeFacts());
    expect(writer.write({ type: 'stream-start', warnings: [] })).toBe('');
    expect(writer.write({ type: 'response-metadata', id: 'x' })).toMatch(/^event: message_start\n/);
  });

  it('sends each delta of text as soon as it comes', () => {
    const writer = createWriter(makeFacts());
    writer.write({ type: 'text-start', id: '0' });
    expect(writer.write({ type: 'text-delta', id: '0', delta: 'Hel' })).toContain('"text":"Hel"');
    expect(writer.write({ type: 'text-delta', id: '0', delta: 'lo' })).toContain('"text":"lo"');
  });

  it('sends the arguments of a call piece by piece, though the text before it was never ended', () => {
    const writer = createWriter(makeFacts());
    writer.write({ type: 'text-delta', id: '0', delta: 'I look it up.' });
    const start = writer.write({ type: 'tool-input-start', id: 'call_1', toolName: 'look' });
    expect(eventsOf(start).map(({ event }) => event)).toEqual(['content_block_stop', 'content_block_start']);
    expect(writer.write({ type: 'tool-input-delta', id: 'call_1', delta: '{"a":' })).toContain(
      'partial_json',
    );
  });

  it('gives two parallel calls, with usage in the client’s terms, to the official SDK', async () => {
    const usage = makeUsage({ input: 100, cacheRead: 60, cacheWrite: 10, output: 20, reasoning: 5 });
    const stream = write([
      ...textParts('0', 'Both.'),
      ...callParts('call_1', 'weather', '{"city":', '"Bern"}'),
      ...callParts('call_2', 'time', ''),
      finish('tool-calls', usage),
    ]);
    const message = await readWithSdk(stream);
    expect(message.content).toEqual([
      { type: 'text', text: 'Both.', citations: null },
      {
        type: 'tool_use',
        id: 'call_1',
        name: 'weather',
        input: { city: 'Bern' },
        caller: { type: 'direct' },
      },
      { type: 'tool_use', id: 'call_2', name: 'time', input: {}, caller: { type: 'direct' } },
    ]);
    expect(message.stop_reason).toBe('tool_use');
    expect(message.usage).toMatchObject({
      input_tokens: 30,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 10,
      output_tokens: 20,
      output_tokens_details: { thinking_tokens: 5 },
    });
  });

  it('writes parts of two calls that alternate as one block after the other', async () => {
    const [start1, delta1, end1, call1] = callParts('a', 'one', '{"x":1}');
    const [start2, delta2, end2, call2] = callParts('b', 'two', '{"y":2}');
    const parts = [start1, start2, delta2, delta1, end2, call2, end1, call1].filter(
      (part) => part !== undefined,
    );
    const message = await readWithSdk(write([...parts, finish('tool-calls')]));
    expect(message.content).toMatchObject([
      { id: 'a', input: { x: 1 } },
      { id: 'b', input: { y: 2 } },
    ]);
  });

  it('gives calls without an id, or with one that repeats, ids of their own', async () => {
    const stream = write([
      ...callParts('', 'one', '{}'),
      ...callParts('', 'two', '{}'),
      ...callParts('x', 'three', '{}'),
      ...callParts('x', 'four', '{}'),
      finish('tool-calls'),
    ]);
    const message = await readWithSdk(stream);
    expect(message.content).toMatchObject([{ id: 'call' }, { id: 'call_2' }, { id: 'x' }, { id: 'x_2' }]);
  });

  it('encodes ids of calls that the protocol does not accept', async () => {
    const message = await readWithSdk(
      write([...callParts('functions.look:0', 'look', '{}'), finish('tool-calls')]),
    );
    const [block] = message.content;
    expect(block?.type === 'tool_use' && block.id).toMatch(/^toolu_mgt1_[a-zA-Z0-9_-]+$/);
  });

  it.each([
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['content-filter', 'refusal'],
    ['other', 'end_turn'],
  ] as const)('ends with the stop reason for %s', async (unified, reason) => {
    const message = await readWithSdk(write([...textParts('0', 'x'), finish(unified)]));
    expect(message.stop_reason).toBe(reason);
  });

  it('cites sources at the text that is open, or at one that is opened for them', async () => {
    const source = {
      type: 'source',
      sourceType: 'url',
      id: 's',
      url: 'https://example.org',
      title: 'Example',
    } as const;
    const open = await readWithSdk(write([{ type: 'text-delta', id: '0', delta: 'x' }, source, finish()]));
    const late = await readWithSdk(write([source, finish()]));
    const cited = [{ type: 'web_search_result_location', url: 'https://example.org', title: 'Example' }];
    expect(open.content).toMatchObject([{ type: 'text', text: 'x', citations: cited }]);
    expect(late.content).toMatchObject([{ type: 'text', text: '', citations: cited }]);
  });

  it('shows a search of the web by the provider as that of its own protocol, and counts it', async () => {
    const search: AnswerPart[] = [
      { type: 'tool-call', toolCallId: 'ws_1', toolName: 'web_search', input: '{}', providerExecuted: true },
      {
        type: 'tool-result',
        toolCallId: 'ws_1',
        toolName: 'web_search',
        result: {
          action: { type: 'search', query: 'x' },
          sources: [{ type: 'url', url: 'https://example.org' }],
        },
      },
    ];
    const message = await readWithSdk(write([...search, ...textParts('0', 'Found.'), finish()]));
    expect(message.content).toMatchObject([
      { type: 'server_tool_use', id: 'ws_1', name: 'web_search', input: { query: 'x' } },
      {
        type: 'web_search_tool_result',
        tool_use_id: 'ws_1',
        content: [{ type: 'web_search_result', url: 'https://example.org' }],
      },
      { type: 'text', text: 'Found.' },
    ]);
    expect(message.stop_reason).toBe('end_turn');
    expect(message.usage.server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 0 });
    const content = search.flatMap((part) => (part.type === 'tool-result' ? [part] : []));
    const whole = { content, finishReason: { unified: 'stop', raw: 'stop' }, usage: makeUsage({}) } as const;
    expect(writeWhole(whole, makeFacts()).content).toEqual(message.content.slice(0, 2));
  });

  it('answers a ping with a ping, and ignores parts that the protocol has nothing for', () => {
    const writer = createWriter(makeFacts());
    expect(writer.write({ type: 'ping' })).toBe('event: ping\ndata: {"type": "ping"}\n\n');
    expect(writer.write({ type: 'raw', rawValue: 1 })).toBe('');
    writer.write({ type: 'response-metadata' });
    expect(writer.write({ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } })).toBe(
      '',
    );
  });
});

describe('a stream of messages that breaks', () => {
  it('passes on the provider’s words as an error, and says nothing after it', async () => {
    const stream = write([
      ...textParts('0', 'x'),
      { type: 'error', error: { message: 'Overloaded', statusCode: 529 } },
      finish('error'),
    ]);
    expect(stream).not.toContain('message_stop');
    expect(
      stream.endsWith('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'),
    ).toBe(true);
    await expect(readWithSdk(stream)).rejects.toThrow('Overloaded');
  });

  it('is broken off with the family’s own frame', () => {
    const writer = createWriter(makeFacts());
    writer.write({ type: 'text-delta', id: '0', delta: 'x' });
    const message = 'The connection to the provider was lost.';
    expect(writer.breakOff(message)).toBe(
      messages.breakFrame({ message, code: 'upstream_request_failed' }, 0, undefined),
    );
    expect(writer.write(finish())).toBe('');
  });

  it.each(['interrupted', 'error'] as const)(
    'never ends normally where the provider’s end is %s',
    (unified) => {
      const stream = write([...textParts('0', 'x'), finish(unified)]);
      expect(stream).toContain('event: error');
      expect(stream).not.toContain('message_stop');
    },
  );
});

describe('thinking in an answer of the messages protocol', () => {
  const thought: AnswerPart[] = [
    {
      type: 'reasoning-start',
      id: 'r',
      providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: null } },
    },
    { type: 'reasoning-delta', id: 'r', delta: 'Hmm.' },
    {
      type: 'reasoning-end',
      id: 'r',
      providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'E' } },
    },
  ];
  const metadata = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'E' } };

  it('is shown to a client that asked for it, with the mark as its signature', async () => {
    const message = await readWithSdk(
      write([...thought, ...textParts('0', 'Yes.'), finish()], thinkingFacts),
    );
    const [block, text] = message.content;
    expect(block).toMatchObject({ type: 'thinking', thinking: 'Hmm.' });
    expect(block?.type === 'thinking' && readMark(block.signature)).toEqual({ maker: 'vendor', metadata });
    expect(text).toMatchObject({ text: 'Yes.' });
  });

  it('is redacted where the provider signed it without showing it', async () => {
    const silent = thought.filter(({ type }) => type !== 'reasoning-delta');
    const message = await readWithSdk(write([...silent, ...textParts('0', 'Yes.'), finish()], thinkingFacts));
    const [block] = message.content;
    expect(block?.type === 'redacted_thinking' && readMark(block.data)).toEqual({
      maker: 'vendor',
      metadata,
    });
  });

  it('is not shown to a client that did not ask for it, which gets the mark only in front of a call', async () => {
    const plain = await readWithSdk(write([...thought, ...textParts('0', 'Yes.'), finish()]));
    expect(plain.content.map(({ type }) => type)).toEqual(['text']);
    const calling = [
      ...thought,
      ...textParts('0', 'Yes.'),
      ...callParts('c', 'look', '{}'),
      finish('tool-calls'),
    ];
    const message = await readWithSdk(write(calling));
    expect(message.content.map(({ type }) => type)).toEqual(['text', 'redacted_thinking', 'tool_use']);
  });

  it('has its mark in front of the first of two calls only', async () => {
    const calls = [...callParts('c', 'look', '{}'), ...callParts('d', 'look', '{}')];
    const message = await readWithSdk(write([...thought, ...calls, finish('tool-calls')]));
    expect(message.content.map(({ type }) => type)).toEqual(['redacted_thinking', 'tool_use', 'tool_use']);
  });

  it('names the call that a provider signed in a redacted block before it', async () => {
    const providerMetadata = { google: { thoughtSignature: 'S' } };
    const [start, ...rest] = callParts('c', 'look', '{}');
    if (start?.type !== 'tool-input-start') throw new Error('a call starts');
    const message = await readWithSdk(write([{ ...start, providerMetadata }, ...rest, finish('tool-calls')]));
    const [block, call] = message.content;
    expect(block?.type === 'redacted_thinking' && readMark(block.data)).toEqual({
      maker: 'vendor',
      metadata: providerMetadata,
      toolCallId: 'c',
    });
    expect(call).toMatchObject({ type: 'tool_use', id: 'c' });
  });
});

describe('any stream of messages', () => {
  it('is well-formed, and has the text, the calls, the stop reason and the tokens of its parts', async () => {
    const usages = fc.record({
      cacheRead: fc.nat(50),
      cacheWrite: fc.nat(50),
      output: fc.nat(500),
      shown: fc.boolean(),
      size: fc.integer({ min: 1, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(mixedAnswer, usages, async ({ parts, expected }, { shown, size, ...tokens }) => {
        const calls = expected.calls.length > 0;
        const end = finish(calls ? 'tool-calls' : 'stop', makeUsage(tokens));
        const stream = write([...parts, end], makeFacts({ echo: { thinking: shown } }));
        expectWellFormed(stream);
        const message = await readWithSdk(stream, size);
        const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
        const uses = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
        expect([...text].sort()).toEqual([...expected.text].sort());
        expect(
          uses.map(({ id, name, input }) => ({ id: fromClientId(id), name, args: input })).sort(byName),
        ).toEqual(expected.calls);
        expect(message.stop_reason).toBe(calls ? 'tool_use' : 'end_turn');
        expect(meterOf(stream)).toMatchObject({
          input: 100 - tokens.cacheRead - tokens.cacheWrite,
          cachedInput: tokens.cacheRead,
          output: tokens.output,
        });
      }),
    );
  });
});

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}

/** The gateway's own reader of the family. */
function meterOf(stream: string) {
  const reader = messages.streamReader(ask());
  for (const { event, data } of eventsOf(stream)) reader.event(event, JSON.stringify(data));
  expect(reader.ended && reader.finished && !reader.failed).toBe(true);
  return reader.report()?.usage;
}

/** One start, blocks one after the other with indexes that count, one end. */
function expectWellFormed(stream: string): void {
  const events = eventsOf(stream);
  let open: number | null = null;
  let next = 0;
  for (const { event, data } of events.slice(1, -2)) {
    if (event === 'content_block_start') {
      expect([open, data.index]).toEqual([null, next]);
      open = next++;
    } else {
      expect(['content_block_delta', 'content_block_stop']).toContain(event);
      expect(data.index).toBe(open);
      if (event === 'content_block_stop') open = null;
    }
  }
  expect(open).toBeNull();
  expect(events[0]?.event).toBe('message_start');
  expect(events.slice(-2).map(({ event }) => event)).toEqual(['message_delta', 'message_stop']);
}

describe('a whole answer in the messages protocol', () => {
  it('has the fields that the SDK’s type requires, and the same content as the stream', async () => {
    const usage = makeUsage({ cacheRead: 3, reasoning: 2 });
    const whole = writeWhole(
      {
        content: [
          { type: 'reasoning', text: 'Hmm.', providerMetadata: { anthropic: { signature: 'S' } } },
          { type: 'text', text: 'Yes.' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{"a":1}' },
          { type: 'tool-call', toolCallId: 'd', toolName: 'look', input: 'no JSON' },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage,
      },
      thinkingFacts,
    );
    const expected: Omit<Message, 'content'> = {
      id: 'msg_0198a3c4-0000-7000-8000-000000000001',
      type: 'message',
      role: 'assistant',
      model: 'vendor/name',
      container: null,
      diagnostics: null,
      stop_reason: 'tool_use',
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 97,
        cache_read_input_tokens: 3,
        cache_creation_input_tokens: 0,
        cache_creation: null,
        output_tokens: 20,
        output_tokens_details: { thinking_tokens: 2 },
        server_tool_use: null,
        inference_geo: null,
        service_tier: null,
        speed: null,
      },
    };
    expect(whole).toMatchObject(expected);
    expect(whole.content).toMatchObject([
      { type: 'thinking', thinking: 'Hmm.' },
      { type: 'text', text: 'Yes.', citations: null },
      { type: 'tool_use', id: 'c', input: { a: 1 } },
      { type: 'tool_use', id: 'd', input: { INVALID_JSON: 'no JSON' } },
    ]);
    expect(messages.readUsage(ask(), whole)?.usage).toMatchObject({ input: 97, cachedInput: 3, output: 20 });
  });

  it('cites sources at its last text', () => {
    const whole = writeWhole(
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'source', sourceType: 'url', id: 's', url: 'https://example.org' },
        ],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: makeUsage({}),
      },
      makeFacts(),
    );
    expect(whole.content).toMatchObject([
      { type: 'text', text: 'a', citations: [{ url: 'https://example.org' }] },
    ]);
  });
});
