import { describe, expect, test } from 'vitest';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import { type Conversation, isUnreadable, type ReadRequest } from '#lib/core/translation/conversation';
import { read } from '#lib/core/translation/responses/read';
import { markThinking } from '#lib/core/translation/thinking-mark';

function requestOf(body: object): ReadRequest {
  const request = read({ input: 'hello', ...body });
  if (isUnreadable(request)) throw new Error(`${request.field}: ${request.message}`);
  return request;
}

function conversationOf(body: object): Conversation {
  return requestOf(body).conversation;
}

function promptOf(...input: readonly object[]): Conversation['prompt'] {
  return conversationOf({ input }).prompt;
}

function refusalOf(body: object): string {
  const request = read({ input: 'hello', ...body });
  return isUnreadable(request) ? request.message : 'it was read';
}

const user = { role: 'user', content: 'go' };
const call = (id: string, name: string, args = '{}') => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: args,
});
const output = (id: string, text = 'done') => ({ type: 'function_call_output', call_id: id, output: text });
const said = { role: 'user', content: [{ type: 'text', text: 'go' }] };

describe('items of a request for a response', () => {
  test('A string is a message of the user, behind the instructions.', () => {
    expect(conversationOf({ instructions: 'be brief' }).prompt).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    ]);
  });

  test('Messages of every role are read, with and without a type.', () => {
    expect(
      promptOf(
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] },
        { role: 'system', content: 'more' },
        user,
        {
          type: 'message',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'a' },
            { type: 'refusal', refusal: 'b' },
          ],
        },
      ),
    ).toEqual([
      { role: 'system', content: 'rules' },
      { role: 'system', content: 'more' },
      said,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  test('Pictures, files and sound are read from data and from URLs.', () => {
    const content = [
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'high' },
      { type: 'input_image', image_url: 'https://example.com/a.jpg' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
      { type: 'input_audio', input_audio: { data: 'DDDD', format: 'wav' } },
    ];
    expect(promptOf({ role: 'user', content })[0]?.content).toEqual([
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AAAA' },
        providerOptions: { openai: { imageDetail: 'high' } },
      },
      {
        type: 'file',
        mediaType: 'image/*',
        data: { type: 'url', url: new URL('https://example.com/a.jpg') },
      },
      { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'BBBB' }, filename: 'a.pdf' },
      {
        type: 'file',
        mediaType: 'application/pdf',
        data: { type: 'url', url: new URL('https://example.com/a.pdf') },
      },
      { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: 'DDDD' } },
    ]);
  });

  test('Parallel calls are one answer, with their results behind it wherever the client has them.', () => {
    const prompt = promptOf(
      user,
      call('a', 'one', '{"x":1}'),
      call('b', 'two'),
      output('b'),
      { role: 'user', content: 'and?' },
      { ...output('a'), output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] },
    );
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(prompt[1]?.content).toMatchObject([
      { toolCallId: 'a', toolName: 'one', input: { x: 1 } },
      { toolCallId: 'b', toolName: 'two', input: {} },
    ]);
    expect(prompt[2]?.content).toMatchObject([
      { toolCallId: 'b', toolName: 'two', output: { type: 'text', value: 'done' } },
      { toolCallId: 'a', toolName: 'one', output: { type: 'content', value: [{ mediaType: 'image/png' }] } },
    ]);
  });

  test('Calls one after the other are answers of their own.', () => {
    const prompt = promptOf(user, call('a', 'one'), output('a'), call('b', 'two'), output('b'));
    expect(prompt.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'tool']);
  });

  test('The call of a tool of plain text is that of a function with one string.', () => {
    const prompt = promptOf(
      user,
      { type: 'custom_tool_call', call_id: 'a', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'custom_tool_call_output', call_id: 'a', output: 'ok' },
    );
    expect(prompt[1]?.content).toEqual([
      { type: 'tool-call', toolCallId: 'a', toolName: 'apply_patch', input: { input: '*** Begin Patch' } },
    ]);
    expect(prompt[2]?.content).toMatchObject([
      { toolName: 'apply_patch', output: { type: 'text', value: 'ok' } },
    ]);
  });

  test('What is left of tools of the provider is skipped.', () => {
    const search = {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'x' },
    };
    expect(promptOf(user, search)).toEqual([said]);
  });

  test('A thousand turns are read.', () => {
    const turns = Array.from({ length: 1_000 }, (_, n) => [user, call(`c${n}`, 'one'), output(`c${n}`)]);
    expect(promptOf(...turns.flat())).toHaveLength(3_000);
  });
});

describe('signed thinking in a request for a response', () => {
  const mark = markThinking({
    maker: 'openai',
    metadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'gA' } },
  });
  const callMark = markThinking({
    maker: 'google',
    metadata: { google: { thoughtSignature: 'ts' } },
    toolCallId: 'a',
  });
  const bound = (maker: string, ...items: readonly object[]) => {
    const content = bindThinking(conversationOf({ input: [user, ...items] }), maker).prompt[1]?.content;
    return Array.isArray(content) ? content : [];
  };
  const reasoning = (encrypted_content: string | null, ...texts: readonly string[]) => ({
    type: 'reasoning',
    id: 'rs_x',
    summary: texts.map((text) => ({ type: 'summary_text', text })),
    encrypted_content,
  });

  test('Each part of the summary goes back to its maker with the signature, and to no other.', () => {
    const items = [reasoning(mark, 'a', 'b'), { role: 'assistant', content: 'yes' }];
    const options = { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'gA' } };
    expect(bound('openai', ...items)).toEqual([
      { type: 'reasoning', text: 'a', providerOptions: options },
      { type: 'reasoning', text: 'b', providerOptions: options },
      { type: 'text', text: 'yes' },
    ]);
    expect(bound('anthropic', ...items)).toEqual([{ type: 'text', text: 'yes' }]);
  });

  test('The mark of a call goes to the call, whether it is before or behind it.', () => {
    for (const items of [
      [reasoning(callMark), call('a', 'one'), output('a')],
      [call('a', 'one'), reasoning(callMark), output('a')],
      [call('a', 'one'), output('a'), reasoning(callMark)],
    ]) {
      expect(bound('google', ...items)).toEqual([
        {
          type: 'tool-call',
          toolCallId: 'a',
          toolName: 'one',
          input: {},
          providerOptions: { google: { thoughtSignature: 'ts' } },
        },
      ]);
    }
  });

  test('The mark of a call is not that of a later call with the same id.', () => {
    const items = [reasoning(callMark), call('a', 'one'), output('a'), call('a', 'one'), output('a')];
    const { prompt } = bindThinking(conversationOf({ input: [user, ...items] }), 'google');
    expect(prompt[1]?.content).toMatchObject([{ providerOptions: { google: { thoughtSignature: 'ts' } } }]);
    expect(prompt[3]?.content).toEqual([
      { type: 'tool-call', toolCallId: 'a_2', toolName: 'one', input: {} },
    ]);
  });

  test("OpenAI's own encrypted thinking, or none, leaves a valid conversation.", () => {
    const answer = { role: 'assistant', content: 'yes' };
    expect(bound('openai', reasoning('gAAAA', 'a'), answer)).toEqual([{ type: 'text', text: 'yes' }]);
    expect(bound('openai', reasoning(null, 'a'), answer)).toEqual([{ type: 'text', text: 'yes' }]);
  });
});

describe('settings of a request for a response', () => {
  test('Sampling, budget, effort and format are read.', () => {
    expect(
      conversationOf({
        max_output_tokens: 77,
        temperature: 0.5,
        top_p: 0.9,
        reasoning: { effort: 'xhigh', summary: 'auto' },
        text: {
          format: { type: 'json_schema', name: 'city', schema: { type: 'object' }, strict: true },
          verbosity: 'low',
        },
        parallel_tool_calls: false,
        safety_identifier: 'u1',
        store: false,
        include: ['reasoning.encrypted_content'],
      }),
    ).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
      maxOutputTokens: 77,
      temperature: 0.5,
      topP: 0.9,
      reasoning: 'xhigh',
      responseFormat: { type: 'json', name: 'city', schema: { type: 'object' } },
      providerOptions: {
        openai: {
          parallelToolCalls: false,
          safetyIdentifier: 'u1',
          strictJsonSchema: true,
          textVerbosity: 'low',
        },
        anthropic: { disableParallelToolUse: true, metadata: { userId: 'u1' } },
        google: { thinkingConfig: { includeThoughts: true } },
      },
    });
  });

  test('Functions, tools of plain text, groups and a search are declared; the echo knows their names.', () => {
    const parameters = { type: 'object', properties: {} };
    const tools = [
      { type: 'function', name: 'one', description: 'd', parameters, strict: true },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
      },
      {
        type: 'namespace',
        name: 'mcp__files',
        description: 'f',
        tools: [{ type: 'function', name: 'read', parameters }],
      },
      { type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['a.example'] } },
      { type: 'tool_search' },
      { type: 'namespace', name: 'mcp__git__', tools: [{ type: 'function', name: 'log', parameters }] },
    ];
    const added = [
      {
        type: 'additional_tools',
        role: 'developer',
        tools: [{ type: 'function', name: 'late', parameters }],
      },
    ];
    const { conversation, echo } = requestOf({ tools, input: [...added, user] });
    expect(conversation.tools).toMatchObject([
      { type: 'function', name: 'one', description: 'd', inputSchema: parameters, strict: true },
      { type: 'function', name: 'patch', description: expect.stringContaining('start: "a"') },
      { type: 'function', name: 'mcp__files__read' },
      {
        type: 'provider',
        id: 'openai.web_search',
        args: { searchContextSize: 'low', filters: { allowedDomains: ['a.example'] } },
      },
      { type: 'function', name: 'mcp__git__log' },
      { type: 'function', name: 'late' },
    ]);
    expect(echo.toolsByName).toEqual({
      one: { name: 'one', namespace: null, custom: false },
      patch: { name: 'patch', namespace: null, custom: true },
      mcp__files__read: { name: 'read', namespace: 'mcp__files', custom: false },
      mcp__git__log: { name: 'log', namespace: 'mcp__git__', custom: false },
      late: { name: 'late', namespace: null, custom: false },
    });
  });

  test('Every choice of tools is read.', () => {
    const tools = ['one', 'two'].map((name) => ({ type: 'function', name }));
    const choiceOf = (tool_choice: unknown) => conversationOf({ tools, tool_choice }).toolChoice;
    for (const type of ['auto', 'none', 'required']) expect(choiceOf(type)).toEqual({ type });
    expect(choiceOf({ type: 'function', name: 'two' })).toEqual({ type: 'tool', toolName: 'two' });
    const allowed = { type: 'allowed_tools', mode: 'auto', tools: tools.slice(0, 1) };
    expect(conversationOf({ tools, tool_choice: allowed })).toMatchObject({
      tools: [{ name: 'one' }],
      toolChoice: { type: 'auto' },
    });
  });
});

describe('a request for a response that cannot be read', () => {
  test.each([
    ['input is missing', { input: undefined }, 'Field "input" must be a list with a message'],
    ['input is empty', { input: '' }, 'Field "input" must be a list with a message'],
    ['input is a number', { input: 7 }, 'Field "input" must be a list'],
    [
      'an item is stored',
      { input: [{ type: 'item_reference', id: 'msg_1' }] },
      'Field "input[0].type" is "item_reference"',
    ],
    [
      'a compaction comes',
      { input: [{ type: 'compaction', encrypted_content: 'x' }] },
      'only its own provider reads',
    ],
    [
      'a role is unknown',
      { input: [{ role: 'critic', content: 'a' }] },
      'Field "input[0].role" must be "user" or',
    ],
    [
      'a file is stored',
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'send its content in "image_url"',
    ],
    [
      'an answer has a picture',
      { input: [{ role: 'assistant', content: [{ type: 'input_image', image_url: 'https://a.example/' }] }] },
      'Field "input[0].content" must be text',
    ],
    [
      'a result has no call',
      { input: [user, output('x')] },
      'Field "input[1].call_id" is "x", which is the id of no call',
    ],
    [
      'a call has no result',
      { input: [user, call('x', 'one')] },
      'Field "input[1].call_id" is a call of "one" without a result',
    ],
    ['an id repeats', { input: [user, call('x', 'one'), call('x', 'two')] }, 'the id of another call'],
    [
      'a call has two results',
      { input: [user, call('x', 'one'), output('x'), output('x')] },
      'already has a result',
    ],
    [
      'arguments are no JSON',
      { input: [user, call('x', 'one', 'x=1')] },
      'Field "input[1].arguments" must be a JSON object',
    ],
    [
      'a tool runs elsewhere',
      { tools: [{ type: 'file_search', vector_store_ids: [] }] },
      'Field "tools[0].type" names a tool',
    ],
    [
      'the forced tool is not declared',
      { tool_choice: { type: 'function', name: 'x' } },
      'is "x", which is not in "tools"',
    ],
    [
      'a budget is too small',
      { max_output_tokens: 0 },
      'Field "max_output_tokens" must be a whole number, 1 or more.',
    ],
  ])('When %s, the message names the field and says what to send.', (_case, body, message) => {
    expect(refusalOf(body)).toContain(message);
  });
});
