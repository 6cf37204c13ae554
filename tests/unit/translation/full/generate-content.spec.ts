import { describe, expect, it } from 'vitest';
import { fullRequests, linked, pdf, plainText, png, schema } from '#tests/unit/translation/full/requests';
import { sendAs } from '#tests/unit/translation/sent';

/** What the model gets of the full request of each other protocol, and what is named as lost. */
const expected = {
  chat: {
    lost: [
      'parallel_tool_calls',
      'service_tier',
      'user',
      'safety_identifier',
      'metadata',
      'prompt_cache_key',
      'prompt_cache_retention',
      'prompt_cache_options',
      'verbosity',
      'response_format.json_schema.name',
      'response_format.json_schema.description',
      'tools[].cache_control',
      'messages[].content[].prompt_cache_breakpoint',
      'messages[].content[].image_url.detail',
      'messages[].content[].file.filename',
    ],
    body: {
      generationConfig: {
        maxOutputTokens: 5_000,
        temperature: 0.5,
        topK: 5,
        topP: 0.9,
        frequencyPenalty: 0.1,
        presencePenalty: 0.2,
        stopSequences: ['END', 'STOP'],
        seed: 7,
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
        thinkingConfig: { thinkingBudget: 4_000, includeThoughts: true },
      },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Look' },
            { inlineData: { mimeType: 'image/png', data: png } },
            { fileData: { mimeType: 'image/png', fileUri: linked } },
            { inlineData: { mimeType: 'application/pdf', data: pdf } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'I call.' },
            { functionCall: { id: 'a', name: 'one', args: { x: 1 } } },
            { functionCall: { id: 'b:1', name: 'patch', args: { input: '***' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'a', name: 'one', response: { name: 'one', content: 'Done' } } },
            { functionResponse: { id: 'b:1', name: 'patch', response: { name: 'patch', content: 'Seen' } } },
          ],
        },
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: png } }] },
        { role: 'user', parts: [{ text: 'Be kind.' }] },
        { role: 'user', parts: [{ text: 'And?' }] },
      ],
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'one', description: 'First', parametersJsonSchema: schema },
            { name: 'patch', description: 'Patches', parametersJsonSchema: plainText },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    },
  },
  responses: {
    lost: [
      'parallel_tool_calls',
      'prompt_cache_key',
      'prompt_cache_retention',
      'safety_identifier',
      'user',
      'service_tier',
      'text.format.name',
      'text.format.description',
      'text.verbosity',
      'input[].content[].prompt_cache_breakpoint',
      'input[].content[].detail',
      'input[].content[].filename',
    ],
    body: {
      generationConfig: {
        maxOutputTokens: 5_000,
        temperature: 0.5,
        topP: 0.9,
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
        thinkingConfig: { thinkingBudget: 4_000, includeThoughts: true },
      },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Look' },
            { inlineData: { mimeType: 'image/png', data: png } },
            { fileData: { mimeType: 'image/png', fileUri: linked } },
            { inlineData: { mimeType: 'application/pdf', data: pdf } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'I call.' },
            { functionCall: { id: 'a', name: 'one', args: { x: 1 } } },
            { functionCall: { id: 'b:1', name: 'patch', args: { input: '***' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'a', name: 'one', response: { name: 'one', content: 'Done' } } },
            { functionResponse: { id: 'b:1', name: 'patch', response: { name: 'patch', content: 'Seen' } } },
          ],
        },
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: png } }] },
        { role: 'user', parts: [{ text: 'And?' }] },
      ],
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'one', description: 'First', parametersJsonSchema: schema },
            { name: 'patch', description: 'Patches', parametersJsonSchema: plainText },
            { name: 'files__read', description: '', parametersJsonSchema: schema },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    },
  },
  messages: {
    lost: ['metadata.user_id', 'tool_choice.disable_parallel_tool_use'],
    body: {
      generationConfig: {
        maxOutputTokens: 5_000,
        temperature: 0.5,
        topK: 5,
        topP: 0.9,
        stopSequences: ['END'],
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
        thinkingConfig: { thinkingBudget: 2_000, includeThoughts: true },
      },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'Look' },
            { inlineData: { mimeType: 'image/png', data: png } },
            { fileData: { mimeType: 'image/png', fileUri: linked } },
            { inlineData: { mimeType: 'application/pdf', data: pdf } },
          ],
        },
        {
          role: 'model',
          parts: [
            { text: 'I call.' },
            { functionCall: { id: 'a', name: 'one', args: { x: 1 } } },
            { functionCall: { id: 'b', name: 'two', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'a', name: 'one', response: { name: 'one', content: 'Done' } } },
            { functionResponse: { id: 'b', name: 'two', response: { name: 'two', error: 'No' } } },
          ],
        },
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: png } }] },
        { role: 'user', parts: [{ text: 'And?' }] },
        { role: 'user', parts: [{ text: 'Go on' }] },
      ],
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] },
      tools: [
        {
          functionDeclarations: [
            { name: 'one', description: 'First', parametersJsonSchema: schema },
            { name: 'two', description: '', parametersJsonSchema: { type: 'object' } },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
    },
  },
};

describe('a full request on a model of generate-content (contract: translation/losses)', () => {
  it.each(['chat', 'responses', 'messages'] as const)(
    'arrives with all that is carried and nothing else, from %s',
    async (from) => {
      const upstream = { name: 'mystery-1', reasoning: true };
      const path = '/models/mystery-1:streamGenerateContent?alt=sse';
      expect(await sendAs(from, 'generate-content', fullRequests[from], upstream)).toEqual({
        path,
        ...expected[from],
      });
    },
  );

  it('has no penalties for a model that rejects them, and a tool for its schema beside other tools', async () => {
    const upstream = { name: 'gemini-2.5-flash', reasoning: true };
    const { lost, body } = expected.chat;
    const {
      frequencyPenalty: _,
      presencePenalty: __,
      responseMimeType: ___,
      responseJsonSchema: ____,
      ...config
    } = body.generationConfig;
    const json = { name: 'json', description: 'A city', parametersJsonSchema: schema };
    expect(await sendAs('chat', 'generate-content', fullRequests.chat, upstream)).toEqual({
      path: expect.stringContaining('gemini-2.5-flash'),
      lost: [...lost, 'frequency_penalty', 'presence_penalty'],
      body: {
        ...body,
        generationConfig: config,
        tools: body.tools.map(({ functionDeclarations }) => ({
          functionDeclarations: [...functionDeclarations, json],
        })),
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      },
    });
  });

  it('has a level of thinking and calls without signatures that a model of the third generation accepts', async () => {
    const upstream = { name: 'gemini-3-pro-preview', reasoning: true };
    const { lost, body } = expected.chat;
    const thinkingConfig = { thinkingLevel: 'low', includeThoughts: true };
    const sign = (part: object) =>
      'functionCall' in part ? { ...part, thoughtSignature: 'skip_thought_signature_validator' } : part;
    expect(await sendAs('chat', 'generate-content', fullRequests.chat, upstream)).toEqual({
      path: expect.stringContaining('gemini-3-pro-preview'),
      lost,
      body: {
        ...body,
        generationConfig: { ...body.generationConfig, thinkingConfig },
        contents: body.contents.map(({ role, parts }) => ({ role, parts: parts.map(sign) })),
      },
    });
  });
});
