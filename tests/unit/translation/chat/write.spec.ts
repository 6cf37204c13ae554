import { createOpenAI } from '@ai-sdk/openai';
import fc from 'fast-check';
import type OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { chat } from '#lib/core/families/chat';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import { read } from '#lib/core/translation/chat/read';
import { createWriter, writeWhole } from '#lib/core/translation/chat/write';
import { type AnswerPart, isUnreadable, type WholeAnswer } from '#lib/core/translation/conversation';
import { askChat } from '#tests/unit/families/make';
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

const facts = makeFacts({ echo: { includeUsage: true, customTools: ['patch'] } });
const ask = askChat({ model: 'm', stream: true, stream_options: { include_usage: true } });

/** The answer as the official helper puts it together. */
async function sdkAnswer(text: string, size = 7): Promise<OpenAI.ChatCompletion> {
  const stream = clientOf(text, size).chat.completions.stream({
    model: 'm',
    messages: [],
    stream_options: { include_usage: true },
  });
  return await stream.finalChatCompletion();
}

function chunksOf(text: string): OpenAI.ChatCompletionChunk[] {
  return framesOf(text).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data)]));
}

const usage = makeUsage({ input: 100, cacheRead: 40, cacheWrite: 10, output: 30, reasoning: 12 });
const wantedUsage = {
  prompt_tokens: 100,
  completion_tokens: 30,
  total_tokens: 130,
  prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 12 },
};

describe('a streamed chat completion', () => {
  test('Text, thinking and two calls arrive at the official client with finish reason and usage.', async () => {
    const text = writeParts(
      createWriter(facts),
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'upstream' },
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'hm' },
      { type: 'reasoning-end', id: '0' },
      ...textParts('1', 'Hel', 'lo'),
      ...callParts('a', 'one', '{"x":', '1}'),
      { type: 'tool-call', toolCallId: 'b', toolName: 'two', input: '{}' },
      finish('tool-calls', usage),
    );
    const answer = await sdkAnswer(text);
    expect(answer).toMatchObject({
      id: `chatcmpl-${facts.id}`,
      object: 'chat.completion',
      model: 'vendor/name',
    });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'Hello',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
          { id: 'b', type: 'function', function: { name: 'two', arguments: '{}' } },
        ],
      },
    });
    expect(answer.usage).toEqual(wantedUsage);
    const reader = readStream(chat.streamReader(ask), text);
    expect(reader.ended && reader.finished && !reader.failed).toBe(true);
    expect(reader.report()?.usage).toMatchObject({
      input: 50,
      cachedInput: 40,
      cacheWrite5m: 10,
      output: 30,
      reasoning: 12,
    });
  });

  test('It begins with the role and ends with [DONE]; usage is sent only if it was asked for.', () => {
    const parts = [...textParts('0', 'hi'), finish('stop', usage)];
    const asked = writeParts(createWriter(facts), ...parts);
    expect(chunksOf(asked).map((chunk) => chunk.choices[0]?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { content: 'hi' },
      {},
      undefined,
    ]);
    expect(chunksOf(asked).map((chunk) => chunk.usage)).toEqual([null, null, null, wantedUsage]);
    const silent = writeParts(createWriter(makeFacts()), ...parts);
    expect(chunksOf(silent).every((chunk) => !('usage' in chunk) && chunk.choices.length === 1)).toBe(true);
    expect(asked.endsWith('data: [DONE]\n\n') && silent.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  test('Nothing is sent before the provider has answered; a ping keeps the connection.', () => {
    const writer = createWriter(facts);
    expect(writer.write({ type: 'stream-start', warnings: [] })).toBe('');
    expect(writer.write({ type: 'ping' })).toBe(': keep-alive\n\n');
    expect(writer.write({ type: 'raw', rawValue: {} })).toBe('');
  });

  test.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content-filter', 'content_filter'],
    ['tool-calls', 'stop'],
    ['other', 'stop'],
  ] as const)(
    'An answer without calls that ended with "%s" has the finish reason "%s".',
    (unified, wanted) => {
      const chunks = chunksOf(writeParts(createWriter(facts), ...textParts('0', 'a'), finish(unified)));
      expect(chunks.flatMap(({ choices }) => choices[0]?.finish_reason ?? [])).toEqual([wanted]);
    },
  );

  test.each([
    [
      'an error of the provider',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    ],
    ['an error object', { type: 'error', error: new Error('Overloaded') }],
  ] as const)('After %s, the client gets an error with its words and no end.', async (_case, part) => {
    const writer = createWriter(facts);
    const text = writeParts(writer, ...textParts('0', 'a'), part, finish());
    expect(text).not.toContain('[DONE]');
    await expect(sdkAnswer(text)).rejects.toThrow('Overloaded');
    const reader = readStream(chat.streamReader(ask), text);
    expect(reader.failed && !reader.ended).toBe(true);
    expect(writer.breakOff('again')).toBe('');
  });

  test('A stream that was interrupted, or that failed at its end, is no answer.', async () => {
    for (const unified of ['interrupted', 'error'] as const) {
      const text = writeParts(createWriter(facts), ...textParts('0', 'a'), finish(unified));
      expect(text).not.toContain('[DONE]');
      await expect(sdkAnswer(text)).rejects.toThrow('provider');
    }
  });

  test('An end that compatible servers call "error" is no answer.', async () => {
    const end = { type: 'finish', finishReason: { unified: 'other', raw: 'error' }, usage } as const;
    await expect(sdkAnswer(writeParts(createWriter(facts), ...textParts('0', 'a'), end))).rejects.toThrow(
      'error',
    );
  });

  test('Calls to which the provider gave the same id are told apart.', async () => {
    const parts: AnswerPart[] = [
      ...callParts('a', 'one', '{"x":1}'),
      ...callParts('a', 'two', '{"x":2}'),
      { type: 'tool-call', toolCallId: 'a', toolName: 'one', input: '{"x":3}' },
      finish('tool-calls'),
    ];
    const answer = await sdkAnswer(writeParts(createWriter(facts), ...parts));
    expect(answer.choices[0]?.message.tool_calls).toMatchObject([
      { id: 'a', function: { name: 'one', arguments: '{"x":1}' } },
      { id: 'a_2', function: { name: 'two', arguments: '{"x":2}' } },
      { id: 'a_3', function: { name: 'one', arguments: '{"x":3}' } },
    ]);
  });

  test('Thinking that is signed and does not end has its mark at the end of the answer.', () => {
    const text = writeParts(
      createWriter(facts),
      { type: 'reasoning-start', id: '0', providerMetadata: { anthropic: { signature: 's' } } },
      { type: 'reasoning-delta', id: '0', delta: 'hm' },
      finish(),
    );
    expect(text).toContain('"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"mgt1_');
  });

  test('The gateway can break it off with its own words.', async () => {
    const writer = createWriter(facts);
    const text = writeParts(writer, ...textParts('0', 'a')) + writer.breakOff('The balance is used up.');
    await expect(sdkAnswer(text)).rejects.toThrow('The balance is used up.');
  });

  test('The call of a tool of plain text has its text.', () => {
    const text = writeParts(
      createWriter(facts),
      ...callParts('a', 'patch', '{"input":', '"*** Begin"}'),
      { type: 'tool-call', toolCallId: 'b', toolName: 'patch', input: '"*** End"' },
      finish('tool-calls'),
    );
    expect(chunksOf(text).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])).toEqual([
      { index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
      { index: 1, id: 'b', type: 'custom', custom: { name: 'patch', input: '*** End' } },
    ]);
  });

  test('A call that the provider carried out is no call for the client.', () => {
    const text = writeParts(
      createWriter(facts),
      { type: 'tool-input-start', id: 'ws', toolName: 'web_search', providerExecuted: true },
      { type: 'tool-input-delta', id: 'ws', delta: '{}' },
      { type: 'tool-call', toolCallId: 'ws', toolName: 'web_search', input: '{}', providerExecuted: true },
      finish(),
    );
    expect(text).not.toContain('tool_calls');
  });

  test('Citations have their place; a source without one comes once, at the end.', () => {
    const source = (url: string) =>
      ({ type: 'source', sourceType: 'url', id: url, url, title: 'T' }) as const;
    const text = writeParts(
      createWriter(facts),
      source('https://a.example/'),
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
    const annotations = chunksOf(text).flatMap(({ choices }) => {
      const delta = choices[0]?.delta ?? {};
      return 'annotations' in delta ? delta.annotations : [];
    });
    expect(annotations).toEqual([
      {
        type: 'url_citation',
        url_citation: { url: 'https://a.example/', title: 'T', start_index: 0, end_index: 9 },
      },
      {
        type: 'url_citation',
        url_citation: { url: 'https://b.example/', title: 'T', start_index: 0, end_index: 0 },
      },
    ]);
  });
});

describe('signed thinking over two turns of chat', () => {
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
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'one',
      input: '{"x":1}',
      providerMetadata: { google: { thoughtSignature: 'ts' } },
    },
    finish('tool-calls'),
  ];
  const content = [
    { type: 'reasoning', text: 'first thought', providerMetadata: { anthropic: { signature: 's1' } } },
    { type: 'reasoning', text: '', providerMetadata: { anthropic: { redactedData: 'r' } } },
    { type: 'text', text: 'I call.' },
    parts[parts.length - 2],
  ];
  const whole = { content, finishReason: { unified: 'tool-calls', raw: 'x' }, usage } as WholeAnswer;

  /** A client that collects deltas as those of compatible servers do. */
  function collected(text: string): object {
    const message = {
      role: 'assistant',
      content: '',
      reasoning_content: '',
      reasoning_details: [] as unknown[],
    };
    const calls: { function: { arguments: string } }[] = [];
    for (const { choices } of chunksOf(text)) {
      const delta = (choices[0]?.delta ?? {}) as Record<string, never>;
      message.content += delta.content ?? '';
      message.reasoning_content += delta.reasoning_content ?? '';
      message.reasoning_details.push(...(delta.reasoning_details ?? []));
      for (const { index, ...call } of (delta.tool_calls ??
        []) as OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall[]) {
        const known = calls[index];
        if (known) known.function.arguments += call.function?.arguments ?? '';
        else calls[index] = call as never;
      }
    }
    return { ...message, tool_calls: calls };
  }

  function nextTurn(message: unknown, maker: string): unknown {
    const result = { role: 'tool', tool_call_id: 'a', content: 'done' };
    const request = read({ messages: [{ role: 'user', content: 'go' }, message, result] });
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

  test('Streamed, each block goes back with its text and signature, and the call with its own.', () => {
    const message = collected(writeParts(createWriter(facts), ...parts));
    expect(nextTurn(message, 'vendor')).toEqual(wanted);
    expect(message).toMatchObject({ reasoning_details: [{ index: 0 }, { index: 1 }, { index: 2 }] });
  });

  test('In one piece, the same goes back, and another maker gets none of it.', () => {
    const answer = writeWhole(whole, facts) as unknown as OpenAI.ChatCompletion;
    expect(nextTurn(answer.choices[0]?.message, 'vendor')).toEqual(wanted);
    expect(nextTurn(answer.choices[0]?.message, 'other')).toEqual([
      wanted[2],
      { type: 'tool-call', toolCallId: 'a', toolName: 'one', input: { x: 1 }, providerOptions: {} },
    ]);
  });
});

describe('a chat completion in one piece', () => {
  test('The official client reads it as its type says.', async () => {
    const body = writeWhole(
      {
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'Hel' },
          { type: 'text', text: 'lo' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'one', input: '{"x":1}' },
          { type: 'tool-call', toolCallId: 'b', toolName: 'patch', input: '{"input":"***"}' },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_use' },
        usage,
        providerMetadata: { openai: { serviceTier: 'flex' } },
      },
      facts,
    );
    const client = clientOf(JSON.stringify(body), 7, 'application/json');
    const answer = await client.chat.completions.create({ model: 'm', messages: [] });
    expect(answer).toMatchObject({
      id: `chatcmpl-${facts.id}`,
      object: 'chat.completion',
      created: 1_800_000_000,
      model: 'vendor/name',
      service_tier: 'flex',
      usage: wantedUsage,
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Hello',
            reasoning_content: 'hm',
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
              { id: 'b', type: 'custom', custom: { name: 'patch', input: '***' } },
            ],
          },
        },
      ],
    });
    expect(chat.readUsage(ask, body)?.usage).toMatchObject({ input: 50, cachedInput: 40, output: 30 });
  });

  test('An answer that failed says so as compatible servers do.', () => {
    const body = writeWhole({ content: [], finishReason: { unified: 'error', raw: 'X' }, usage }, facts);
    expect(chat.errorIn?.(body)).toBeDefined();
  });
});

test('Any mix of parts is a stream with the text, calls and usage of the parts.', async () => {
  const property = fc.asyncProperty(
    mixedAnswer,
    fc.integer({ min: 1, max: 40 }),
    async ({ parts, expected }, size) => {
      const text = writeParts(
        createWriter(makeFacts({ echo: { includeUsage: true } })),
        ...parts,
        finish('stop', usage),
      );
      const answer = await sdkAnswer(text, size);
      const message = answer.choices[0]?.message;
      const calls = (message?.tool_calls ?? []).map((call) =>
        call.type === 'function'
          ? { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) }
          : null,
      );
      expect([...(message?.content ?? '')].sort()).toEqual([...expected.text].sort());
      expect(calls.sort((a, b) => (a?.id ?? '').localeCompare(b?.id ?? ''))).toEqual(expected.calls);
      expect(answer.choices[0]?.finish_reason).toBe(expected.calls.length > 0 ? 'tool_calls' : 'stop');
      expect(answer.usage).toEqual(wantedUsage);
      const reader = readStream(chat.streamReader(ask), text);
      expect(reader.ended && reader.finished && !reader.failed).toBe(true);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

test('The AI SDK as a client reads any mix of parts without an error.', async () => {
  const property = fc.asyncProperty(mixedAnswer, async ({ parts, expected }) => {
    const text = writeParts(createWriter(facts), ...parts, finish('stop', usage));
    const fetch = answering(text, 'text/event-stream', 99);
    const model = createOpenAI({ apiKey: 'k', fetch }).chat('m');
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
