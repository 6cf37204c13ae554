import { describe, expect, test } from 'vitest';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import { read } from '#lib/core/translation/chat/read';
import { type Conversation, isUnreadable } from '#lib/core/translation/conversation';
import { markThinking } from '#lib/core/translation/thinking-mark';

const user = { role: 'user', content: 'hello' };

function conversationOf(body: object): Conversation {
  const request = read({ messages: [user], ...body });
  if (isUnreadable(request)) throw new Error(`${request.field}: ${request.message}`);
  return request.conversation;
}

function promptOf(...messages: readonly object[]): Conversation['prompt'] {
  return conversationOf({ messages }).prompt;
}

function refusalOf(body: object): string {
  const request = read({ messages: [user], ...body });
  return isUnreadable(request) ? request.message : 'it was read';
}

const call = (id: string, name: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('messages of a chat request', () => {
  test('System and developer messages are instructions wherever they are, in parts too.', () => {
    expect(
      promptOf({ role: 'system', content: 'be brief' }, user, {
        role: 'developer',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    ).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      { role: 'system', content: 'a' },
      { role: 'system', content: 'b' },
    ]);
  });

  test('Pictures, files and sound are read from data and, where there are any, from URLs.', () => {
    const content = [
      { type: 'text', text: 'look' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.jpg' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
      { type: 'file', file: { file_data: 'CCCC' } },
      { type: 'input_audio', input_audio: { data: 'DDDD', format: 'mp3' } },
    ];
    expect(promptOf({ role: 'user', content })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          {
            type: 'file',
            mediaType: 'image/png',
            data: { type: 'data', data: 'AAAA' },
            providerOptions: { openai: { imageDetail: 'low' } },
          },
          {
            type: 'file',
            mediaType: 'image/*',
            data: { type: 'url', url: new URL('https://example.com/a.jpg') },
          },
          {
            type: 'file',
            mediaType: 'application/pdf',
            data: { type: 'data', data: 'BBBB' },
            filename: 'a.pdf',
          },
          { type: 'file', mediaType: 'application/pdf', data: { type: 'data', data: 'CCCC' } },
          { type: 'file', mediaType: 'audio/mpeg', data: { type: 'data', data: 'DDDD' } },
        ],
      },
    ]);
  });

  test('Results of parallel calls are together behind their calls, text and pictures.', () => {
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const prompt = promptOf(
      user,
      { role: 'assistant', content: 'I look.', tool_calls: [call('a', 'one', '{"x":1}'), call('b', 'two')] },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'seen' }, picture] },
      { role: 'tool', tool_call_id: 'a', content: '{"y":2}' },
    );
    expect(prompt.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'a', toolName: 'one', input: { x: 1 } },
          { type: 'tool-call', toolCallId: 'b', toolName: 'two', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'b',
            toolName: 'two',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: 'seen' },
                { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
              ],
            },
          },
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'one',
            output: { type: 'text', value: '{"y":2}' },
          },
        ],
      },
    ]);
  });

  test('An id of a call that a later turn uses again is told apart.', () => {
    const turn = [
      { role: 'assistant', tool_calls: [call('call_0', 'one')] },
      { role: 'tool', tool_call_id: 'call_0', content: 'done' },
    ];
    const ids = promptOf(user, ...turn, ...turn).flatMap(({ role, content }) =>
      role === 'tool' ? content.map((part) => part.type === 'tool-result' && part.toolCallId) : [],
    );
    expect(ids).toEqual(['call_0', 'call_0_2']);
  });

  test('Empty texts and messages are left out, because other protocols refuse them.', () => {
    expect(promptOf({ role: 'system', content: '' }, user, { role: 'assistant', content: '' })).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    ]);
  });

  test('A refusal of an earlier answer is its text.', () => {
    expect(promptOf(user, { role: 'assistant', content: null, refusal: 'No.' }).at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'No.' }],
    });
  });

  test('Marks of the cache are read in the form of OpenAI and of Anthropic.', () => {
    const content = [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
    ];
    expect(promptOf({ role: 'user', content })).toMatchObject([
      {
        content: [
          { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } } },
          {
            providerOptions: {
              openai: { promptCacheBreakpoint: { mode: 'explicit' } },
              anthropic: { cacheControl: { type: 'ephemeral' } },
            },
          },
        ],
      },
    ]);
  });

  test('A thousand turns are read.', () => {
    const turns = Array.from({ length: 1_000 }, (_, n) => [
      { role: 'user', content: `question ${n}` },
      { role: 'assistant', tool_calls: [call(`call_${n}`, 'one')] },
      { role: 'tool', tool_call_id: `call_${n}`, content: 'done' },
    ]);
    expect(promptOf(...turns.flat())).toHaveLength(3_000);
  });
});

describe('signed thinking in a chat request', () => {
  const mark = markThinking({ maker: 'anthropic', metadata: { anthropic: { signature: 'sig' } } });
  const callMark = markThinking({
    maker: 'google',
    metadata: { google: { thoughtSignature: 'ts' } },
    toolCallId: 'a',
  });

  const answers = (...details: readonly object[]) => [
    user,
    {
      role: 'assistant',
      content: 'yes',
      reasoning_content: 'all thoughts',
      reasoning_details: details,
      tool_calls: [call('a', 'one')],
    },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
  ];
  const bound = (maker: string, ...details: readonly object[]) => {
    const content = bindThinking(conversationOf({ messages: answers(...details) }), maker).prompt[1]?.content;
    return Array.isArray(content) ? content : [];
  };

  test('A block with its text and mark goes back to its maker, and to no other.', () => {
    const detail = { type: 'reasoning.text', text: 'a thought', signature: mark, index: 0 };
    expect(bound('anthropic', detail)[0]).toEqual({
      type: 'reasoning',
      text: 'a thought',
      providerOptions: { anthropic: { signature: 'sig' } },
    });
    expect(bound('google', detail).map(({ type }) => type)).toEqual(['text', 'tool-call']);
  });

  test('Pieces of a streamed block are put together by their index.', () => {
    const pieces = [
      { type: 'reasoning.text', text: 'a ', index: 0 },
      { type: 'reasoning.text', text: 'thought', index: 0 },
      { type: 'reasoning.text', signature: mark, index: 0 },
    ];
    expect(bound('anthropic', ...pieces)[0]).toMatchObject({ type: 'reasoning', text: 'a thought' });
  });

  test('Blocks that are whole stay apart, even with the same index.', () => {
    const detail = { type: 'reasoning.text', text: 'a', signature: mark, index: 0 };
    expect(bound('anthropic', detail, { ...detail, text: 'b' }).slice(0, 2)).toMatchObject([
      { text: 'a' },
      { text: 'b' },
    ]);
  });

  test('Thinking without a mark is read, though no provider will get it.', () => {
    expect(conversationOf({ messages: answers() }).prompt[1]?.content[0]).toEqual({
      type: 'reasoning',
      text: 'all thoughts',
    });
    expect(bound('anthropic').map(({ type }) => type)).toEqual(['text', 'tool-call']);
  });

  test('A mark without a text has that of "reasoning_content".', () => {
    expect(bound('anthropic', { type: 'reasoning.encrypted', data: mark })[0]).toMatchObject({
      type: 'reasoning',
      text: 'all thoughts',
    });
  });

  test('The mark of a call goes to the call.', () => {
    expect(bound('google', { type: 'reasoning.encrypted', data: callMark }).at(-1)).toEqual({
      type: 'tool-call',
      toolCallId: 'a',
      toolName: 'one',
      input: {},
      providerOptions: { google: { thoughtSignature: 'ts' } },
    });
  });

  test("A provider's own signature is dropped with its thinking.", () => {
    const foreign = { type: 'reasoning.encrypted', data: 'gAAAAB' };
    expect(bound('openai', foreign).map(({ type }) => type)).toEqual(['text', 'tool-call']);
  });
});

describe('settings of a chat request', () => {
  test('Sampling, budget, stop words and effort are read.', () => {
    expect(
      conversationOf({
        max_completion_tokens: 77,
        temperature: 0.5,
        top_p: 0.9,
        top_k: 40,
        seed: 7,
        presence_penalty: 0.1,
        frequency_penalty: 0.2,
        stop: 'END',
        reasoning_effort: 'low',
      }),
    ).toMatchObject({
      maxOutputTokens: 77,
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      stopSequences: ['END'],
      reasoning: 'low',
    });
    expect(conversationOf({ max_tokens: 5, stop: ['a', 'b'] })).toMatchObject({
      maxOutputTokens: 5,
      stopSequences: ['a', 'b'],
    });
  });

  test('What compatible servers read is read too: an effort in "reasoning", a mark of the cache on a tool.', () => {
    const tools = [{ type: 'function', function: { name: 'one' }, cache_control: { type: 'ephemeral' } }];
    expect(conversationOf({ reasoning: { effort: 'high' }, tools })).toMatchObject({
      reasoning: 'high',
      tools: [{ name: 'one', providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } }],
    });
  });

  test('Nothing is set that the request does not set.', () => {
    expect(conversationOf({ stop: null, tools: [], temperature: null })).toEqual({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    });
  });

  test('Tools are declared with their schemas; one of plain text is a function of one string.', () => {
    const parameters = { type: 'object', properties: { x: { type: 'number' } } };
    const grammar = { syntax: 'lark', definition: 'start: "a"' };
    const tools = [
      { type: 'function', function: { name: 'one', description: 'adds', parameters, strict: true } },
      { type: 'function', function: { name: 'two' } },
      {
        type: 'custom',
        custom: { name: 'patch', description: 'patches', format: { type: 'grammar', grammar } },
      },
    ];
    expect(conversationOf({ tools }).tools).toEqual([
      { type: 'function', name: 'one', description: 'adds', inputSchema: parameters, strict: true },
      { type: 'function', name: 'two', inputSchema: { type: 'object', properties: {} }, strict: false },
      expect.objectContaining({
        name: 'patch',
        description: expect.stringContaining('start: "a"'),
        inputSchema: expect.objectContaining({ required: ['input'] }),
      }),
    ]);
  });

  test('Every choice of tools is read.', () => {
    const tools = ['one', 'two'].map((name) => ({ type: 'function', function: { name } }));
    const choiceOf = (tool_choice: unknown) => conversationOf({ tools, tool_choice }).toolChoice;
    for (const type of ['auto', 'none', 'required']) expect(choiceOf(type)).toEqual({ type });
    expect(choiceOf({ type: 'function', function: { name: 'two' } })).toEqual({
      type: 'tool',
      toolName: 'two',
    });
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: tools.slice(1) } };
    expect(conversationOf({ tools, tool_choice: allowed })).toMatchObject({
      tools: [{ name: 'two' }],
      toolChoice: { type: 'required' },
    });
  });

  test('The wanted format is read, and strict only if the request says so.', () => {
    const json_schema = { name: 'city', schema: { type: 'object' }, strict: true };
    expect(conversationOf({ response_format: { type: 'json_schema', json_schema } })).toMatchObject({
      responseFormat: { type: 'json', name: 'city', schema: { type: 'object' } },
      providerOptions: { openai: { strictJsonSchema: true } },
    });
    expect(conversationOf({ response_format: { type: 'json_object' } }).responseFormat).toEqual({
      type: 'json',
    });
    expect(conversationOf({ response_format: { type: 'text' } }).responseFormat).toBeUndefined();
  });

  test('What only some protocols have is for their package.', () => {
    expect(
      conversationOf({
        parallel_tool_calls: false,
        user: 'u1',
        metadata: { a: 'b' },
        service_tier: 'flex',
        prompt_cache_key: 'k',
        verbosity: 'low',
        reasoning_effort: 'high',
      }).providerOptions,
    ).toEqual({
      openai: {
        parallelToolCalls: false,
        user: 'u1',
        metadata: { a: 'b' },
        serviceTier: 'flex',
        promptCacheKey: 'k',
        textVerbosity: 'low',
      },
      anthropic: { disableParallelToolUse: true, metadata: { userId: 'u1' } },
      google: { thinkingConfig: { includeThoughts: true } },
    });
  });

  test('A search of the provider is declared as a tool of the provider.', () => {
    const web_search_options = {
      search_context_size: 'low',
      user_location: { type: 'approximate', approximate: { country: 'DE' } },
    };
    expect(conversationOf({ web_search_options }).tools).toEqual([
      {
        type: 'provider',
        id: 'openai.web_search',
        name: 'web_search',
        args: { searchContextSize: 'low', userLocation: { type: 'approximate', country: 'DE' } },
      },
    ]);
  });
});

describe('a chat request that cannot be read', () => {
  test.each([
    ['messages is missing', { messages: undefined }, 'Field "messages" must be a list'],
    [
      'only the system speaks',
      { messages: [{ role: 'system', content: 'a' }] },
      'must be a list with a message',
    ],
    ['a message is a string', { messages: ['hello'] }, 'Field "messages[0]" must be an object.'],
    [
      'a role is unknown',
      { messages: [{ role: 'critic', content: 'a' }] },
      'messages[0].role" must be "system" or',
    ],
    [
      'a part is unknown',
      { messages: [{ role: 'user', content: [{ type: 'video' }] }] },
      'messages[0].content[0].type',
    ],
    [
      'text is a number',
      { messages: [{ role: 'user', content: 7 }] },
      'Field "messages[0].content" must be a list',
    ],
    [
      'a file is stored',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'file_data',
    ],
    [
      'inline data is no base64',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png,abc' } }] },
        ],
      },
      'must be a URL, or a data URL such as data:image/png;base64,',
    ],
    [
      'a URL is of another kind',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }] },
        ],
      },
      'must be a URL of the web',
    ],
    [
      'a result has no call',
      { messages: [user, { role: 'tool', tool_call_id: 'x', content: 'a' }] },
      'Field "messages[1].tool_call_id" is "x", which is the id of no call',
    ],
    [
      'a call has no result',
      { messages: [user, { role: 'assistant', tool_calls: [call('x', 'one')] }, user] },
      'Field "messages[1].tool_calls[0].id" is a call of "one" without a result',
    ],
    [
      'an id repeats in a turn',
      { messages: [user, { role: 'assistant', tool_calls: [call('x', 'one'), call('x', 'two')] }] },
      'Field "messages[1].tool_calls[1].id" is "x", the id of another call',
    ],
    [
      'arguments are no JSON',
      { messages: [user, { role: 'assistant', tool_calls: [call('x', 'one', '{"a":')] }] },
      'Field "messages[1].tool_calls[0].function.arguments" must be a JSON object',
    ],
    [
      'arguments are a list',
      { messages: [user, { role: 'assistant', tool_calls: [call('x', 'one', '[1]')] }] },
      'must be a JSON object',
    ],
    ['a budget is a string', { max_tokens: '7' }, 'Field "max_tokens" must be a whole number, 1 or more.'],
    ['an effort is unknown', { reasoning_effort: 'lots' }, 'Field "reasoning_effort" must be "none" or'],
    [
      'a tool is of another kind',
      { tools: [{ type: 'web_search' }] },
      'Field "tools[0].type" must be "function"',
    ],
    [
      'the forced tool is not declared',
      { tool_choice: { type: 'function', function: { name: 'x' } } },
      'Field "tool_choice.function.name" is "x", which is not in "tools"',
    ],
  ])('When %s, the message names the field and says what to send.', (_case, body, message) => {
    expect(refusalOf(body)).toContain(message);
  });
});
