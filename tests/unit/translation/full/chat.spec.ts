import { describe, expect, it } from 'vitest';
import {
  document,
  fullRequests,
  linked,
  picture,
  plainText,
  schema,
} from '#tests/unit/translation/full/requests';
import { sendAs } from '#tests/unit/translation/sent';

/** What the model gets of the full request of each other protocol, and what is named as lost. */
const expected = {
  responses: {
    lost: [],
    body: {
      model: 'any-model',
      user: 'u1',
      temperature: 0.5,
      top_p: 0.9,
      response_format: {
        type: 'json_schema',
        json_schema: { schema: schema, strict: true, name: 'city', description: 'A city' },
      },
      parallel_tool_calls: false,
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      safety_identifier: 's1',
      service_tier: 'priority',
      reasoning_effort: 'low',
      verbosity: 'low',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit' } },
            { type: 'image_url', image_url: { url: picture, detail: 'high' } },
            { type: 'image_url', image_url: { url: linked } },
            { type: 'file', file: { filename: 'a.pdf', file_data: document } },
          ],
        },
        {
          role: 'assistant',
          content: 'I call.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
            { id: 'b:1', type: 'function', function: { name: 'patch', arguments: '{"input":"***"}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Done' },
        { role: 'tool', tool_call_id: 'b:1', content: 'Seen' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] },
        { role: 'user', content: 'And?' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'one', description: 'First', parameters: schema, strict: true },
        },
        { type: 'function', function: { name: 'patch', description: 'Patches', parameters: plainText } },
        { type: 'function', function: { name: 'files__read', parameters: schema } },
      ],
      tool_choice: 'auto',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 5_000,
    },
  },
  messages: {
    lost: ['top_k', 'messages[].content[].is_error'],
    body: {
      model: 'any-model',
      user: 'u1',
      temperature: 0.5,
      top_p: 0.9,
      response_format: {
        type: 'json_schema',
        json_schema: { schema: schema, strict: true, name: 'response' },
      },
      stop: ['END'],
      parallel_tool_calls: false,
      reasoning_effort: 'low',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: picture } },
            { type: 'image_url', image_url: { url: linked } },
            { type: 'file', file: { filename: 'a.pdf', file_data: document } },
          ],
        },
        {
          role: 'assistant',
          content: 'I call.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
            { id: 'b', type: 'function', function: { name: 'two', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Done' },
        { role: 'tool', tool_call_id: 'b', content: 'No' },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: picture } }] },
        { role: 'user', content: 'And?' },
        { role: 'user', content: 'Go on' },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'one', description: 'First', parameters: schema, strict: true },
        },
        { type: 'function', function: { name: 'two', parameters: { type: 'object' } } },
      ],
      tool_choice: 'auto',
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 5_000,
    },
  },
  'generate-content': {
    lost: ['generationConfig.topK'],
    body: {
      model: 'any-model',
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      response_format: {
        type: 'json_schema',
        json_schema: {
          schema: { type: 'object', properties: { x: { type: 'number' } } },
          strict: false,
          name: 'response',
        },
      },
      stop: ['END'],
      seed: 7,
      reasoning_effort: 'low',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'system', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: picture } },
            { type: 'image_url', image_url: { url: linked } },
            { type: 'file', file: { filename: 'a.pdf', file_data: document } },
          ],
        },
        {
          role: 'assistant',
          content: 'I call.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
            { id: 'call', type: 'function', function: { name: 'two', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Done' },
        { role: 'tool', tool_call_id: 'call', content: 'No' },
        { role: 'user', content: 'And?' },
      ],
      tools: [
        { type: 'function', function: { name: 'one', description: 'First', parameters: schema } },
        {
          type: 'function',
          function: {
            name: 'two',
            parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } } },
          },
        },
      ],
      tool_choice: 'auto',
      max_tokens: 5_000,
    },
  },
};

describe('a full request on a model of chat (contract: translation/losses)', () => {
  it.each(['responses', 'messages', 'generate-content'] as const)(
    'arrives with all that is carried and nothing else, from %s',
    async (from) => {
      const upstream = { name: 'any-model', reasoning: true };
      const sent = await sendAs(from, 'chat', fullRequests[from], upstream);
      expect(sent).toEqual({ ...expected[from], path: '/chat/completions' });
    },
  );

  it('has marks of the cache at parts of its messages, whatever their role', async () => {
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
    const marked = (type: string, text: string) => [{ type, text, ...mark }];
    const input = [
      { role: 'developer', content: marked('input_text', 'Be brief.') },
      { role: 'user', content: marked('input_text', 'Look') },
      { role: 'assistant', content: marked('output_text', 'I call.') },
      { type: 'function_call', call_id: 'a', name: 'one', arguments: '{}' },
      { type: 'function_call_output', call_id: 'a', output: marked('input_text', 'Done') },
    ];
    const tool = { type: 'function', function: { name: 'one', arguments: '{}' }, id: 'a' };
    expect(await sendAs('responses', 'chat', { model: 'm', input })).toMatchObject({
      lost: [],
      body: {
        messages: [
          { role: 'system', content: marked('text', 'Be brief.') },
          { role: 'user', content: marked('text', 'Look') },
          { role: 'assistant', content: marked('text', 'I call.'), tool_calls: [tool] },
          { role: 'tool', tool_call_id: 'a', content: marked('text', 'Done') },
        ],
      },
    });
  });

  it('is refused if it has a file at an address, which the package would write as text', async () => {
    const fileData = { mimeType: 'text/plain', fileUri: 'https://example.com/a.txt' };
    const request = { contents: [{ parts: [{ text: 'Read' }, { fileData }] }] };
    expect(await sendAs('generate-content', 'chat', request)).toMatchObject({ field: 'file_url' });
  });
});
