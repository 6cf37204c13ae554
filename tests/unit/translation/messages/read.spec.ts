import type { MessageCreateParamsNonStreaming } from '@anthropic-ai/sdk/resources/messages';
import { describe, expect, it } from 'vitest';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import { type Conversation, isUnreadable, type Unreadable } from '#lib/core/translation/conversation';
import { findLosses } from '#lib/core/translation/fates';
import { fields } from '#lib/core/translation/messages/fields';
import { read } from '#lib/core/translation/messages/read';
import { createWriter, writeWhole } from '#lib/core/translation/messages/write';
import {
  callParts,
  finish,
  makeFacts,
  makeUsage,
  textParts,
  writeAll,
} from '#tests/unit/translation/answers';

const hello = { role: 'user', content: 'Hello' };
const look = { name: 'look', input_schema: { type: 'object', properties: { at: { type: 'string' } } } };
const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: { at: 'x' } };
const asked = [hello, { role: 'assistant', content: [call] }];
const result = (content: unknown, more: object = {}) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content, ...more }],
});

function conversationOf(body: object): Conversation {
  const request = read({ model: 'm', max_tokens: 9, messages: [hello], ...body });
  if (isUnreadable(request)) throw new Error(request.message);
  return request.conversation;
}

function refusalOf(body: object): Unreadable {
  const request = read({ model: 'm', max_tokens: 9, messages: [hello], ...body });
  if (!isUnreadable(request)) throw new Error('it was read');
  return request;
}

describe('a messages request', () => {
  it('is read as Claude Code sends it, with every cache mark in its place', () => {
    const cache_control = { type: 'ephemeral' as const, ttl: '1h' as const };
    const cached = { providerOptions: { anthropic: { cacheControl: cache_control } } };
    const body: MessageCreateParamsNonStreaming = {
      model: 'm',
      max_tokens: 32_000,
      system: [
        { type: 'text', text: 'You are Claude Code.' },
        { type: 'text', text: 'Be brief.', cache_control },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Fix it.', cache_control }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'a' } },
            { type: 'tool_use', id: 'toolu_2', name: 'Read', input: { path: 'b' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no such file', is_error: true },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'text', text: 'A' }],
              cache_control,
            },
            { type: 'text', text: '<system-reminder>x</system-reminder>' },
          ],
        },
      ],
      tools: [
        {
          name: 'Read',
          description: 'Reads.',
          input_schema: { type: 'object' },
          strict: true,
          cache_control,
        },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      metadata: { user_id: 'user_1' },
      stop_sequences: ['STOP'],
    };
    // Newer types of the SDK have no temperature, older ones do.
    const request = read({ ...body, temperature: 1 });
    expect(request).toEqual({
      conversation: {
        prompt: [
          { role: 'system', content: 'You are Claude Code.' },
          { role: 'system', content: 'Be brief.', ...cached },
          { role: 'user', content: [{ type: 'text', text: 'Fix it.', ...cached }] },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'I look.' },
              { type: 'tool-call', toolCallId: 'toolu_1', toolName: 'Read', input: { path: 'a' } },
              { type: 'tool-call', toolCallId: 'toolu_2', toolName: 'Read', input: { path: 'b' } },
            ],
          },
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId: 'toolu_2',
                toolName: 'Read',
                output: { type: 'error-text', value: 'no such file' },
              },
              {
                type: 'tool-result',
                toolCallId: 'toolu_1',
                toolName: 'Read',
                output: { type: 'text', value: 'A' },
                ...cached,
              },
            ],
          },
          { role: 'user', content: [{ type: 'text', text: '<system-reminder>x</system-reminder>' }] },
        ],
        maxOutputTokens: 32_000,
        temperature: 1,
        stopSequences: ['STOP'],
        tools: [
          {
            type: 'function',
            name: 'Read',
            description: 'Reads.',
            inputSchema: { type: 'object' },
            strict: true,
            ...cached,
          },
        ],
        toolChoice: { type: 'auto' },
        providerOptions: { openai: { parallelToolCalls: false, user: 'user_1' } },
      },
      echo: { thinking: false },
    });
  });

  it('has its pictures and PDFs by data and by URL, and documents of text as text', () => {
    const { prompt } = conversationOf({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
            { type: 'image', source: { type: 'url', url: 'https://example.org/a.jpg' } },
            {
              type: 'document',
              title: 'Plan',
              source: { type: 'base64', media_type: 'application/pdf', data: 'BB==' },
            },
            { type: 'document', source: { type: 'url', url: 'https://example.org/b.pdf' } },
            {
              type: 'document',
              title: 'Notes',
              source: { type: 'text', media_type: 'text/plain', data: 'One.' },
            },
            { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'Two.' }] } },
            { type: 'search_result', title: 'T', source: 'S', content: [{ type: 'text', text: 'Three.' }] },
          ],
        },
      ],
    });
    expect(prompt[0]?.content).toEqual([
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AA==' } },
      { type: 'file', mediaType: 'image', data: { type: 'url', url: new URL('https://example.org/a.jpg') } },
      { type: 'file', mediaType: 'application/pdf', filename: 'Plan', data: { type: 'data', data: 'BB==' } },
      {
        type: 'file',
        mediaType: 'application/pdf',
        data: { type: 'url', url: new URL('https://example.org/b.pdf') },
      },
      { type: 'text', text: 'Notes\n\nOne.' },
      { type: 'text', text: 'Two.' },
      { type: 'text', text: 'T\nS\nThree.' },
    ]);
  });

  it('has results of tools with pictures, in the order of their blocks', () => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };
    const { prompt } = conversationOf({
      messages: [...asked, result([{ type: 'text', text: 'See:' }, picture])],
    });
    expect(prompt[2]?.content).toMatchObject([
      {
        output: {
          type: 'content',
          value: [
            { type: 'text', text: 'See:' },
            { type: 'file', mediaType: 'image/png' },
          ],
        },
      },
    ]);
  });

  it.each([
    [{ type: 'any' }, { type: 'required' }],
    [{ type: 'none' }, { type: 'none' }],
    [
      { type: 'tool', name: 'look' },
      { type: 'tool', toolName: 'look' },
    ],
  ])('may choose its tools by %j', (tool_choice, toolChoice) => {
    expect(conversationOf({ tools: [look], tool_choice }).toolChoice).toEqual(toolChoice);
  });

  it.each([
    [{ thinking: { type: 'disabled' } }, 'none'],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 10_000 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 31_999 } }, 'high'],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'max'],
    [{ output_config: { effort: 'low' } }, 'low'],
    [{}, undefined],
  ])('asks for the effort of thinking by %j', (body, effort) => {
    expect(conversationOf(body).reasoning).toBe(effort);
  });

  it('asks the provider to show its thinking if the client wants to see it', () => {
    const request = read({ model: 'm', max_tokens: 9, messages: [hello], thinking: { type: 'adaptive' } });
    expect(request).toMatchObject({
      conversation: {
        providerOptions: {
          openai: { reasoningSummary: 'auto' },
          google: { thinkingConfig: { includeThoughts: true } },
        },
      },
      echo: { thinking: true },
    });
  });

  it('does not get to see thinking that it asked to omit', () => {
    const thinking = { type: 'adaptive', display: 'omitted' };
    expect(read({ model: 'm', max_tokens: 9, messages: [hello], thinking })).toMatchObject({
      echo: { thinking: false },
    });
  });

  it.each(['output_config.format', 'output_format'])('has the schema of its answer in %s', (path) => {
    const format = { type: 'json_schema', schema: { type: 'object' } };
    const body = path === 'output_format' ? { output_format: format } : { output_config: { format } };
    expect(conversationOf(body).responseFormat).toEqual({ type: 'json', schema: { type: 'object' } });
  });

  it('searches the web with the tool of its own protocol', () => {
    const tool = {
      type: 'web_search_20250305',
      name: 'web_search',
      max_uses: 3,
      allowed_domains: ['example.org'],
    };
    expect(conversationOf({ tools: [tool] }).tools).toEqual([
      {
        type: 'provider',
        id: 'anthropic.web_search_20250305',
        name: 'web_search',
        args: { maxUses: 3, allowedDomains: ['example.org'] },
      },
    ]);
  });

  it('has the hash of a long name of its user, which OpenAI would refuse', () => {
    const { providerOptions } = conversationOf({ metadata: { user_id: 'u'.repeat(200) } });
    expect(providerOptions?.openai?.user).toMatch(/^[0-9a-f]{64}$/);
  });

  it('leaves out what tools of the provider left behind', () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] };
    const { prompt } = conversationOf({
      messages: [
        hello,
        { role: 'assistant', content: [search, found, { type: 'text', text: 'Found.' }] },
        hello,
      ],
    });
    expect(prompt[1]?.content).toEqual([{ type: 'text', text: 'Found.' }]);
  });

  it('may have empty texts beside others, and an answer without a word', () => {
    const { prompt } = conversationOf({
      system: '',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'text', text: 'Hello' },
          ],
        },
        { role: 'assistant', content: [] },
        hello,
      ],
    });
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'user']);
  });

  it('may be long: 1,000 turns are read', () => {
    const turns = Array.from({ length: 500 }, () => [hello, { role: 'assistant', content: 'Hi' }]).flat();
    expect(conversationOf({ messages: [...turns, hello] }).prompt).toHaveLength(1_001);
  });
});

describe('a messages request that cannot be read', () => {
  it.each([
    ['messages', { messages: [] }],
    ['messages', { messages: 'Hello' }],
    ['messages[0].role', { messages: [{ role: 'developer', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: '' }] }],
    ['messages[0].content', { messages: [{ role: 'user', content: [] }] }],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] },
    ],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text', text: 1 }] }] }],
    [
      'messages[0].content[0].source.type',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
    ],
    [
      'messages[0].content[0].source.url',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'a.jpg' } }] }] },
    ],
    ['messages[0].content[0].tool_use_id', { messages: [result('x')] }],
    ['messages[1].content[0]', { messages: asked }],
    ['messages[1].content[0]', { messages: [...asked, hello, { role: 'assistant', content: 'x' }] }],
    ['messages[3].content[0].tool_use_id', { messages: [...asked, result('x'), result('y')] }],
    [
      'messages[1].content[1].id',
      { messages: [hello, { role: 'assistant', content: [call, call] }, result('x')] },
    ],
    [
      'messages[1].content[0].input',
      { messages: [hello, { role: 'assistant', content: [{ ...call, input: '{"at":' }] }, result('x')] },
    ],
    [
      'messages[1].content[0].type',
      { messages: [hello, { role: 'assistant', content: [{ type: 'compaction' }] }] },
    ],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: '9' }],
    ['temperature', { temperature: '1' }],
    ['stop_sequences', { stop_sequences: 'STOP' }],
    ['system[0].type', { system: [{ type: 'image' }] }],
    ['tools[0].input_schema', { tools: [{ name: 'look' }] }],
    ['tools[0].type', { tools: [{ type: 'computer_20250124', name: 'computer' }] }],
    ['tool_choice.name', { tools: [look], tool_choice: { type: 'tool', name: 'find' } }],
    ['tool_choice.type', { tool_choice: { type: 'required' } }],
    ['thinking.type', { thinking: {} }],
    ['output_config.effort', { output_config: { effort: 'huge' } }],
  ])('names the field %s', (field, body) => {
    const refusal = refusalOf(body);
    expect(refusal.field).toBe(field);
    expect(refusal.message).toContain(`"${field}"`);
  });
});

describe('thinking over two turns of the messages protocol', () => {
  const anthropic = { anthropic: { signature: 'S' } };
  const google = { google: { thoughtSignature: 'G' } };
  const answer = (thinking: boolean) =>
    writeWhole(
      {
        content: [
          { type: 'reasoning', text: 'Hmm.', providerMetadata: anthropic },
          { type: 'tool-call', toolCallId: 'a:0', toolName: 'look', input: '{}', providerMetadata: google },
        ],
        finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
        usage: makeUsage({}),
      },
      makeFacts({ echo: { thinking } }),
    );
  const nextTurn = (content: unknown) => {
    const list = Array.isArray(content) ? content : [];
    const id = list.at(-1)?.id;
    return conversationOf({
      messages: [
        hello,
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
      ],
    });
  };

  it('comes back to its maker unchanged, on the thought and on the call, with the provider’s id of the call', () => {
    const { prompt } = bindThinking(nextTurn(answer(true).content), 'vendor');
    expect(prompt[1]?.content).toEqual([
      { type: 'reasoning', text: 'Hmm.', providerOptions: anthropic },
      { type: 'tool-call', toolCallId: 'a:0', toolName: 'look', input: {}, providerOptions: google },
    ]);
    expect(prompt[2]?.content).toMatchObject([{ toolCallId: 'a:0', toolName: 'look' }]);
  });

  it('comes back without its text if the client did not ask to see it', () => {
    const { prompt } = bindThinking(nextTurn(answer(false).content), 'vendor');
    expect(prompt[1]?.content).toMatchObject([
      { type: 'reasoning', text: '', providerOptions: anthropic },
      { type: 'tool-call', providerOptions: google },
    ]);
  });

  it('is left out for another maker, and the conversation stays valid', () => {
    const { prompt } = bindThinking(nextTurn(answer(true).content), 'another');
    expect(prompt[1]?.content).toMatchObject([{ type: 'tool-call', toolCallId: 'a:0', providerOptions: {} }]);
  });

  it('is left out if its signature is none of ours', () => {
    const native = [{ type: 'thinking', thinking: 'Hmm.', signature: 'EqQBCg' }, { ...call }];
    const { prompt } = bindThinking(nextTurn(native), 'anthropic');
    expect(prompt[1]?.content).toMatchObject([{ type: 'tool-call' }]);
  });

  it('comes back from a stream as from a whole answer', () => {
    const writer = createWriter(makeFacts({ echo: { thinking: true } }));
    const stream = writeAll(writer, [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-end', id: 'r', providerMetadata: anthropic },
      ...textParts('0', 'x'),
      ...callParts('c', 'look', '{}'),
      finish('tool-calls'),
    ]);
    const data = /"data":"(mgt1_[^"]+)"/.exec(stream)?.[1];
    const { prompt } = bindThinking(nextTurn([{ type: 'redacted_thinking', data }, call]), 'vendor');
    expect(prompt[1]?.content).toMatchObject([
      { type: 'reasoning', text: '', providerOptions: anthropic },
      {},
    ]);
  });
});

describe('what a messages request loses', () => {
  const losses = (body: object, target: 'chat' | 'responses' | 'generate-content') =>
    findLosses({ model: 'm', max_tokens: 9, messages: [hello], ...body }, fields, target);

  it('is nothing for a request of text, tools and cache marks', () => {
    const body = {
      stream: true,
      system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
      messages: [...asked, result([{ type: 'text', text: 'A' }], { is_error: false })],
      tools: [{ ...look, type: 'custom', eager_input_streaming: true }],
      service_tier: 'auto',
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    };
    for (const target of ['chat', 'responses', 'generate-content'] as const) {
      expect(losses(body, target)).toEqual({ lost: [], refused: null });
    }
  });

  it('depends on the protocol that it goes to', () => {
    const body = {
      top_k: 5,
      stop_sequences: ['x'],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      unheard_of: 1,
    };
    expect(losses(body, 'chat').lost).toEqual(['top_k', 'context_management', 'unheard_of']);
    expect(losses(body, 'responses').lost).toEqual([
      'top_k',
      'stop_sequences',
      'context_management',
      'unheard_of',
    ]);
    expect(losses(body, 'generate-content').lost).toEqual(['context_management', 'unheard_of']);
  });

  it.each([
    ['tools[0].type', { tools: [{ type: 'computer_20250124', name: 'computer' }] }],
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.org', name: 'x' }] }],
    ['container', { container: 'c' }],
    ['thread', { thread: { type: 'create' } }],
    ['inference_geo', { inference_geo: 'us' }],
    [
      'messages[0].content[0].source.file_id',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
    ],
  ])('is refused on the way to chat if it is %s', (field, body) => {
    expect(losses(body, 'chat').refused?.field).toBe(field);
  });

  it('keeps a search of the web where the other side has one', () => {
    const body = { tools: [{ type: 'web_search_20250305', name: 'web_search' }] };
    expect(losses(body, 'responses').refused).toBeNull();
    expect(losses(body, 'generate-content').refused).toBeNull();
  });
});
