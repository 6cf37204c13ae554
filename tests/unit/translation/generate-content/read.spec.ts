import { type GenerateContentParameters, GoogleGenAI, Type } from '@google/genai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { bindThinking } from '#lib/core/translation/bind-thinking';
import { type Conversation, isUnreadable, type Unreadable } from '#lib/core/translation/conversation';
import { findLosses } from '#lib/core/translation/fates';
import { fields } from '#lib/core/translation/generate-content/fields';
import { read } from '#lib/core/translation/generate-content/read';
import { createWriter } from '#lib/core/translation/generate-content/write';
import {
  answering,
  callParts,
  finish,
  makeFacts,
  textParts,
  writeAll,
} from '#tests/unit/translation/answers';

const hello = { role: 'user', parts: [{ text: 'Hello' }] };
const model = (...parts: readonly object[]) => ({ role: 'model', parts });
const user = (...parts: readonly object[]) => ({ role: 'user', parts });
const call = (name: string, id?: string) => ({
  functionCall: { ...(id && { id }), name, args: { at: name } },
});
const response = (name: string, value: object, id?: string) => ({
  functionResponse: { ...(id && { id }), name, response: value },
});

afterEach(() => {
  vi.unstubAllGlobals();
});

function conversationOf(body: object): Conversation {
  const request = read({ contents: [hello], ...body });
  if (isUnreadable(request)) throw new Error(request.message);
  return request.conversation;
}

function refusalOf(body: object): Unreadable {
  const request = read({ contents: [hello], ...body });
  if (!isUnreadable(request)) throw new Error('it was read');
  return request;
}

/** The body that the official SDK sends. */
async function bodyOf(parameters: Omit<GenerateContentParameters, 'model'>): Promise<object> {
  let sent = '';
  vi.stubGlobal('fetch', async (_url: unknown, init: RequestInit) => {
    sent = String(init.body);
    return Response.json({ candidates: [] });
  });
  const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: 'http://gateway' } });
  await client.models.generateContent({ model: 'm', ...parameters });
  return JSON.parse(sent);
}

describe('a generateContent request', () => {
  it('is read as the official SDK sends it', async () => {
    const body = await bodyOf({
      contents: 'Hello',
      config: {
        systemInstruction: 'Be brief.',
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        maxOutputTokens: 99,
        stopSequences: ['STOP'],
        seed: 7,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseMimeType: 'application/json',
        responseSchema: { type: Type.OBJECT, properties: { a: { type: Type.STRING, nullable: true } } },
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2_000 },
        tools: [
          {
            functionDeclarations: [
              { name: 'look', description: 'Looks.', parametersJsonSchema: { type: 'object' } },
            ],
          },
        ],
      },
    });
    expect(read({ ...body })).toEqual({
      conversation: {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
        ],
        temperature: 0.5,
        topP: 0.9,
        topK: 40,
        maxOutputTokens: 99,
        stopSequences: ['STOP'],
        seed: 7,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseFormat: {
          type: 'json',
          schema: { type: 'object', properties: { a: { type: ['string', 'null'] } } },
        },
        reasoning: 'low',
        tools: [{ type: 'function', name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
        providerOptions: { openai: { reasoningSummary: 'auto' } },
      },
      echo: { thoughts: true },
    });
  });

  it('may spell its fields in snake case', () => {
    const body = {
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        user({ inline_data: { mime_type: 'image/png', data: 'AA==' } }),
        model({ function_call: { name: 'look', args: {} } }),
        user({ function_response: { name: 'look', response: { output: 'x' } } }),
      ],
      generation_config: { max_output_tokens: 9, thinkingConfig: { thinking_budget: 0 } },
      tools: [{ function_declarations: [{ name: 'look' }] }],
      tool_config: { function_calling_config: { mode: 'ANY', allowed_function_names: ['look'] } },
    };
    expect(conversationOf(body)).toMatchObject({
      prompt: [
        { role: 'system', content: 'Be brief.' },
        { content: [{ type: 'file', mediaType: 'image/png' }] },
        { content: [{ type: 'tool-call', toolName: 'look' }] },
        { content: [{ type: 'tool-result', output: { type: 'text', value: 'x' } }] },
      ],
      maxOutputTokens: 9,
      reasoning: 'none',
      tools: [{ name: 'look', inputSchema: { type: 'object', properties: {} } }],
      toolChoice: { type: 'tool', toolName: 'look' },
    });
    expect(findLosses(body, fields, 'chat')).toEqual({ lost: [], refused: null });
  });

  it('has files by data and by URL, and files of text as text', () => {
    const { prompt } = conversationOf({
      contents: [
        user(
          { inlineData: { mimeType: 'audio/wav', data: '-_8=' } },
          { fileData: { mimeType: 'application/pdf', fileUri: 'https://example.org/a.pdf' } },
          { inlineData: { mimeType: 'text/markdown', data: Buffer.from('# Grüße').toString('base64') } },
        ),
      ],
    });
    expect(prompt[0]?.content).toEqual([
      { type: 'file', mediaType: 'audio/wav', data: { type: 'data', data: '+/8=' } },
      {
        type: 'file',
        mediaType: 'application/pdf',
        data: { type: 'url', url: new URL('https://example.org/a.pdf') },
      },
      { type: 'text', text: '# Grüße' },
    ]);
  });

  it('pairs parallel calls and responses without ids by name and order', () => {
    const { prompt } = conversationOf({
      contents: [
        hello,
        model(call('look'), call('find'), call('look')),
        user(
          response('find', { output: 'F' }),
          response('look', { output: '1' }),
          response('look', { output: '2' }),
        ),
      ],
    });
    expect(prompt[1]?.content).toMatchObject([
      { toolCallId: 'call' },
      { toolCallId: 'call_2' },
      { toolCallId: 'call_3' },
    ]);
    expect(prompt[2]?.content).toMatchObject([
      { toolCallId: 'call_2', toolName: 'find', output: { value: 'F' } },
      { toolCallId: 'call', toolName: 'look', output: { value: '1' } },
      { toolCallId: 'call_3', toolName: 'look', output: { value: '2' } },
    ]);
  });

  it('pairs calls and responses by id where they have one, also if an id repeats in another turn', () => {
    const turn = [
      model(call('look', 'b'), call('look', 'a')),
      user(response('look', { output: 'A' }, 'a'), response('look', { output: 'B' }, 'b')),
    ];
    const { prompt } = conversationOf({ contents: [hello, ...turn, ...turn] });
    expect(prompt[2]?.content).toMatchObject([
      { toolCallId: 'a', output: { value: 'A' } },
      { toolCallId: 'b', output: { value: 'B' } },
    ]);
    expect(prompt[4]?.content).toMatchObject([
      { toolCallId: 'a_2', output: { value: 'A' } },
      { toolCallId: 'b_2', output: { value: 'B' } },
    ]);
  });

  it('takes a response that is repeated word for word once', () => {
    const answer = response('look', { output: 'A' }, 'a');
    const { prompt } = conversationOf({ contents: [hello, model(call('look', 'a')), user(answer, answer)] });
    expect(prompt[2]?.content).toMatchObject([{ toolCallId: 'a', output: { value: 'A' } }]);
  });

  it.each([
    [{ output: 'x' }, { type: 'text', value: 'x' }],
    [{ error: 'x' }, { type: 'error-text', value: 'x' }],
    [{ error: { code: 1 } }, { type: 'error-json', value: { code: 1 } }],
    [{ result: { a: 1 } }, { type: 'json', value: { a: 1 } }],
    [
      { name: 'look', content: 'x' },
      { type: 'text', value: 'x' },
    ],
    [
      { name: 'other', content: 'x' },
      { type: 'json', value: { name: 'other', content: 'x' } },
    ],
    [
      { output: 'x', more: 1 },
      { type: 'json', value: { output: 'x', more: 1 } },
    ],
    [{}, { type: 'json', value: {} }],
  ])('has the response %j of a function', (value, output) => {
    const { prompt } = conversationOf({
      contents: [hello, model(call('look')), user(response('look', value))],
    });
    expect(prompt[2]?.content).toMatchObject([{ output }]);
  });

  it('has the pictures in the response of a function', () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    const { prompt } = conversationOf({
      contents: [
        hello,
        model(call('look')),
        user(
          { functionResponse: { name: 'look', response: { output: 'See:' }, parts: [picture] } },
          { text: 'And?' },
        ),
      ],
    });
    expect(prompt[2]?.content).toMatchObject([
      { output: { type: 'content', value: [{ text: 'See:' }, { type: 'file', mediaType: 'image/png' }] } },
    ]);
    expect(prompt[3]).toEqual({ role: 'user', content: [{ type: 'text', text: 'And?' }] });
  });

  it('has one answer for the many pieces in which clients keep a stream', () => {
    const { prompt } = conversationOf({
      contents: [
        hello,
        model({ text: 'Hel' }),
        model({ text: 'lo' }, { text: '' }),
        model({ text: '' }),
        hello,
      ],
    });
    expect(prompt[1]).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] });
    expect(prompt).toHaveLength(3);
  });

  it.each([
    ['AUTO', [], { type: 'auto' }, 3],
    ['VALIDATED', ['a', 'b'], { type: 'auto' }, 2],
    ['NONE', [], { type: 'none' }, 3],
    ['ANY', [], { type: 'required' }, 3],
    ['ANY', ['a'], { type: 'tool', toolName: 'a' }, 3],
    ['ANY', ['a', 'b'], { type: 'required' }, 2],
  ])(
    'calls functions by the mode %s, of which %j are allowed',
    (mode, allowedFunctionNames, toolChoice, count) => {
      const functionDeclarations = ['a', 'b', 'c'].map((name) => ({ name }));
      const conversation = conversationOf({
        tools: [{ functionDeclarations }],
        toolConfig: { functionCallingConfig: { mode, allowedFunctionNames } },
      });
      expect(conversation.toolChoice).toEqual(toolChoice);
      expect(conversation.tools).toHaveLength(count);
    },
  );

  it('has the schemas of Google as JSON schemas', () => {
    const parameters = {
      type: 'OBJECT',
      propertyOrdering: ['b', 'a'],
      properties: {
        a: {
          type: 'ARRAY',
          minItems: '1',
          items: { type: 'STRING', format: 'enum', enum: ['x'], nullable: true },
        },
        b: { anyOf: [{ type: 'INTEGER', format: 'int32' }, { type: 'NUMBER' }], nullable: true, example: 4 },
      },
      required: ['a'],
    };
    const { tools } = conversationOf({ tools: [{ functionDeclarations: [{ name: 'look', parameters }] }] });
    expect(tools?.[0]).toMatchObject({
      inputSchema: {
        type: 'object',
        properties: {
          a: { type: 'array', minItems: 1, items: { type: ['string', 'null'], enum: ['x', null] } },
          b: {
            anyOf: [{ type: 'integer', format: 'int32' }, { type: 'number' }, { type: 'null' }],
            examples: [4],
          },
        },
        required: ['a'],
      },
    });
  });

  it('searches the web with the tool of its own protocol', () => {
    expect(conversationOf({ tools: [{ googleSearch: {} }] }).tools).toEqual([
      { type: 'provider', id: 'google.google_search', name: 'google_search', args: {} },
    ]);
  });

  it('may be long: 1,000 turns are read', () => {
    const contents = Array.from({ length: 500 }, () => [hello, model({ text: 'Hi' })]).flat();
    expect(conversationOf({ contents: [...contents, hello] }).prompt).toHaveLength(1_001);
  });
});

describe('a generateContent request that cannot be read', () => {
  let deep: object = { type: 'STRING' };
  for (let level = 0; level < 5_000; level++) deep = { type: 'ARRAY', items: deep };
  it.each([
    ['contents', { contents: [] }],
    ['contents', { contents: 'Hello' }],
    ['contents[0].role', { contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }],
    ['contents[0]', { contents: [user()] }],
    ['contents[0]', { contents: [user({ text: '' })] }],
    ['contents[0].parts[0]', { contents: [user({})] }],
    ['contents[0].parts[0].text', { contents: [user({ text: 1 })] }],
    ['contents[0].parts[0].inlineData.mimeType', { contents: [user({ inlineData: { data: 'AA==' } })] }],
    [
      'contents[0].parts[0].fileData.fileUri',
      { contents: [user({ fileData: { fileUri: 'gs://b/a.png' } })] },
    ],
    [
      'contents[0].parts[0].fileData.fileUri',
      {
        contents: [
          user({ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }),
        ],
      },
    ],
    ['contents[0].parts[0].functionResponse', { contents: [user(response('look', {}))] }],
    [
      'contents[2].parts[0].functionResponse',
      { contents: [hello, model(call('look')), user(response('find', {}))] },
    ],
    [
      'contents[1].parts[0].functionCall',
      { contents: [hello, model(call('look')), hello, model({ text: 'x' })] },
    ],
    ['contents[1].parts[0].functionCall', { contents: [hello, model(call('look'))] }],
    [
      'contents[1].parts[1].functionCall.id',
      { contents: [hello, model(call('look', 'a'), call('look', 'a'))] },
    ],
    [
      'contents[1].parts[0].functionCall.args',
      { contents: [hello, model({ functionCall: { name: 'look', args: '{' } })] },
    ],
    ['generationConfig.maxOutputTokens', { generationConfig: { maxOutputTokens: 0 } }],
    ['generation_config.top_p', { generation_config: { top_p: '1' } }],
    [
      'generationConfig.thinkingConfig.thinkingLevel',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'MAX' } } },
    ],
    ['tools[0].codeExecution', { tools: [{ codeExecution: {} }] }],
    ['tools[0].functionDeclarations[0].name', { tools: [{ functionDeclarations: [{}] }] }],
    [
      'toolConfig.functionCallingConfig.allowedFunctionNames[0]',
      { toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['look'] } } },
    ],
  ])('names the field %s', (field, body) => {
    const refusal = refusalOf(body);
    expect(refusal.field).toBe(field);
    expect(refusal.message).toContain(`"${field}"`);
  });

  it('names the level at which a schema is too deep', () => {
    const refusal = refusalOf({ tools: [{ functionDeclarations: [{ name: 'look', parameters: deep }] }] });
    expect(refusal.field).toMatch(/^tools\[0\]\.functionDeclarations\[0\]\.parameters\.items/);
    expect(refusal.message).toContain('100 levels');
  });
});

describe('thinking over two turns of the generateContent protocol', () => {
  const anthropic = { anthropic: { signature: 'S' } };
  /** What the SDK's chat keeps of the answer, and sends with the next message. */
  async function nextTurn(shown: boolean, keepsThoughts = true): Promise<Conversation> {
    const writer = createWriter(makeFacts({ echo: { thoughts: shown } }));
    const stream = writeAll(writer, [
      { type: 'reasoning-start', id: 'r' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      { type: 'reasoning-delta', id: 'r', delta: 'm.' },
      { type: 'reasoning-end', id: 'r', providerMetadata: anthropic },
      ...textParts('0', 'I ', 'look.'),
      ...callParts('c', 'look', '{}'),
      ...callParts('d', 'find', '{}'),
      finish('tool-calls'),
    ]);
    vi.stubGlobal('fetch', answering(stream, 'text/event-stream'));
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: 'http://gateway' } });
    const chat = client.chats.create({ model: 'm' });
    for await (const _ of await chat.sendMessageStream({ message: 'Hello' }));
    const history = chat
      .getHistory(true)
      .map(({ role, parts }) => ({ role, parts: parts?.filter(({ thought }) => keepsThoughts || !thought) }));
    const results = user(response('look', { output: 'x' }, 'c'), response('find', { output: 'y' }, 'd'));
    return conversationOf({ contents: [...history, results] });
  }

  const calls = [
    { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: {} },
    { type: 'tool-call', toolCallId: 'd', toolName: 'find', input: {} },
  ];

  it('comes back to its maker once, unchanged', async () => {
    const { prompt } = bindThinking(await nextTurn(true), 'vendor');
    expect(prompt[1]?.content).toEqual([
      { type: 'reasoning', text: 'Hmm.', providerOptions: anthropic },
      { type: 'text', text: 'I look.' },
      ...calls,
    ]);
  });

  it.each([
    ['was not shown', false, true],
    ['was not kept by the client', true, false],
  ])('comes back by the mark at the call if it %s', async (_, shown, keepsThoughts) => {
    const { prompt } = bindThinking(await nextTurn(shown, keepsThoughts), 'vendor');
    expect(prompt[1]?.content).toEqual([
      { type: 'text', text: 'I look.' },
      { type: 'reasoning', text: '', providerOptions: anthropic },
      ...calls,
    ]);
  });

  it('is left out for another maker, and the conversation stays valid', async () => {
    const { prompt } = bindThinking(await nextTurn(true), 'another');
    expect(prompt[1]?.content).toEqual([{ type: 'text', text: 'I look.' }, ...calls]);
  });

  it('is left out if the signature is none of ours, as that with which Gemini CLI fills a gap', () => {
    const part = { ...call('look'), thoughtSignature: 'skip_thought_signature_validator' };
    const { prompt } = conversationOf({ contents: [hello, model(part), user(response('look', {}))] });
    expect(prompt[1]?.content).toMatchObject([{ type: 'tool-call', toolName: 'look' }]);
  });
});

describe('what a generateContent request loses', () => {
  const losses = (body: object, target: 'chat' | 'responses' | 'messages') =>
    findLosses({ contents: [hello], ...body }, fields, target);

  it('is told in the spelling of the client', () => {
    const body = {
      safety_settings: [{ category: 'HARM_CATEGORY_HARASSMENT' }],
      generationConfig: { topK: 5, media_resolution: 'LOW', candidateCount: 1, responseModalities: ['TEXT'] },
    };
    expect(losses(body, 'messages').lost).toEqual(['safety_settings', 'generationConfig.media_resolution']);
    expect(losses(body, 'chat').lost).toContain('generationConfig.topK');
    expect(losses(body, 'chat').refused).toBeNull();
  });

  it.each([
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 2 } }],
    ['generation_config.response_modalities', { generation_config: { response_modalities: ['AUDIO'] } }],
    ['generationConfig.responseMimeType', { generationConfig: { responseMimeType: 'text/x.enum' } }],
    ['generationConfig.responseLogprobs', { generationConfig: { responseLogprobs: true } }],
    ['cachedContent', { cachedContent: 'cachedContents/1' }],
    ['tools[0].codeExecution', { tools: [{ codeExecution: {} }] }],
    [
      'contents[0].parts[0].inlineData.mimeType',
      { contents: [user({ inlineData: { mimeType: 'video/mp4', data: 'AA==' } })] },
    ],
  ])('is refused if it is %s', (field, body) => {
    expect(losses(body, 'responses').refused?.field).toBe(field);
  });

  it('depends on what the protocol that it goes to can read', () => {
    const audio = { contents: [user({ inlineData: { mimeType: 'audio/wav', data: 'AA==' } })] };
    expect(losses(audio, 'chat').refused).toBeNull();
    expect(losses(audio, 'messages').refused?.field).toBe('contents[0].parts[0].inlineData.mimeType');
    expect(losses({ tools: [{ googleSearch: {} }] }, 'messages').refused).toBeNull();
    expect(losses({ tools: [{ googleSearch: {} }] }, 'chat').refused?.field).toBe('tools[0].googleSearch');
  });
});
