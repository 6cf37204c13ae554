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
  chat: {
    lost: [
      'top_k',
      'seed',
      'frequency_penalty',
      'presence_penalty',
      'stop',
      'tools[].cache_control',
      'temperature',
      'top_p',
    ],
    body: {
      model: 'gpt-5',
      input: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look', prompt_cache_breakpoint: { mode: 'explicit' } },
            { type: 'input_image', image_url: picture, detail: 'high' },
            { type: 'input_image', image_url: linked, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: document },
          ],
        },
        { role: 'assistant', content: 'I call.' },
        { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"x":1}' },
        { type: 'function_call', call_id: 'b:1', name: 'patch', arguments: '{"input":"***"}' },
        { type: 'function_call_output', call_id: 'a', output: 'Done' },
        {
          type: 'function_call_output',
          call_id: 'b:1',
          output: [
            { type: 'input_text', text: 'Seen' },
            { type: 'input_image', image_url: picture },
          ],
        },
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
      ],
      max_output_tokens: 5_000,
      text: {
        format: { type: 'json_schema', strict: true, name: 'city', description: 'A city', schema: schema },
        verbosity: 'low',
      },
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      store: false,
      user: 'u1',
      service_tier: 'priority',
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      safety_identifier: 's1',
      reasoning: { effort: 'low' },
      tools: [
        { type: 'function', name: 'one', description: 'First', parameters: schema, strict: true },
        { type: 'function', name: 'patch', description: 'Patches', parameters: plainText, strict: false },
      ],
      tool_choice: 'auto',
      stream: true,
    },
  },
  messages: {
    lost: ['top_k', 'stop_sequences', 'temperature', 'top_p'],
    body: {
      model: 'gpt-5',
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: picture, detail: 'auto' },
            { type: 'input_image', image_url: linked, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: document },
          ],
        },
        { role: 'assistant', content: 'I call.' },
        { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"x":1}' },
        { type: 'function_call', call_id: 'b', name: 'two', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'a',
          output: [
            { type: 'input_text', text: 'Done' },
            { type: 'input_image', image_url: picture },
          ],
        },
        { type: 'function_call_output', call_id: 'b', output: '{"error":"No"}' },
        { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'Go on' }] },
      ],
      max_output_tokens: 5_000,
      text: { format: { type: 'json_schema', strict: true, name: 'response', schema: schema } },
      parallel_tool_calls: false,
      store: false,
      user: 'u1',
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low', summary: 'auto' },
      tools: [
        { type: 'function', name: 'one', description: 'First', parameters: schema, strict: true },
        { type: 'function', name: 'two', parameters: { type: 'object' }, strict: false },
      ],
      tool_choice: 'auto',
      stream: true,
    },
  },
  'generate-content': {
    lost: [
      'generationConfig.topK',
      'generationConfig.seed',
      'generationConfig.presencePenalty',
      'generationConfig.frequencyPenalty',
      'generationConfig.stopSequences',
      'generationConfig.temperature',
      'generationConfig.topP',
    ],
    body: {
      model: 'gpt-5',
      input: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'developer', content: 'Be kind.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: picture, detail: 'auto' },
            { type: 'input_image', image_url: linked, detail: 'auto' },
            { type: 'input_file', filename: 'a.pdf', file_data: document },
          ],
        },
        { role: 'assistant', content: 'I call.' },
        { type: 'function_call', call_id: 'a', name: 'one', arguments: '{"x":1}' },
        { type: 'function_call', call_id: 'call', name: 'two', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'Done' },
        { type: 'function_call_output', call_id: 'call', output: '{"error":"No"}' },
        { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
      ],
      max_output_tokens: 5_000,
      text: {
        format: {
          type: 'json_schema',
          strict: false,
          name: 'response',
          schema: { type: 'object', properties: { x: { type: 'number' } } },
        },
      },
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'low', summary: 'auto' },
      tools: [
        { type: 'function', name: 'one', description: 'First', parameters: schema, strict: false },
        {
          type: 'function',
          name: 'two',
          parameters: { type: 'object', properties: { a: { type: ['string', 'null'] } } },
          strict: false,
        },
      ],
      tool_choice: 'auto',
    },
  },
};

describe('a full request on a model of responses (contract: translation/losses)', () => {
  it.each(['chat', 'messages', 'generate-content'] as const)(
    'arrives with all that is carried and nothing else, from %s',
    async (from) => {
      const upstream = { name: 'gpt-5', reasoning: true };
      const sent = await sendAs(from, 'responses', fullRequests[from], upstream);
      expect(sent).toEqual({ ...expected[from], path: '/responses' });
    },
  );

  it('keeps a service tier that the package denies a model that it does not know', async () => {
    const sent = await sendAs('chat', 'responses', fullRequests.chat, { name: 'mystery-1', reasoning: true });
    const { lost, body } = expected.chat;
    expect(sent).toEqual({ path: '/responses', lost, body: { ...body, model: 'mystery-1' } });
  });

  it('has no effort for a model that does not think, and the sampling that others reject', async () => {
    const sent = await sendAs('chat', 'responses', fullRequests.chat, { name: 'gpt-4.1' });
    const { lost, body } = expected.chat;
    const { reasoning: _, include: __, ...rest } = body;
    expect(sent).toEqual({
      path: '/responses',
      lost: lost.filter((name) => name !== 'temperature' && name !== 'top_p'),
      body: {
        ...rest,
        model: 'gpt-4.1',
        temperature: 0.5,
        top_p: 0.9,
        input: body.input.map((item) => (item.role === 'developer' ? { ...item, role: 'system' } : item)),
      },
    });
  });

  it('names a time in the cache that the model rejects', async () => {
    const sent = await sendAs('chat', 'responses', fullRequests.chat, { name: 'gpt-6', reasoning: true });
    const { lost, body } = expected.chat;
    const { prompt_cache_retention: _, ...rest } = body;
    expect(sent).toEqual({
      path: '/responses',
      lost: [...lost, 'prompt_cache_retention'],
      body: { ...rest, model: 'gpt-6' },
    });
  });

  it('names the mark of the cache at an assistant’s text, which the package leaves out', async () => {
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' } };
    const said = (role: string) => ({ role, content: [{ type: 'text', text: 'Look', ...mark }] });
    const lostBy = async (messages: object[]) => {
      const sent = await sendAs('chat', 'responses', { model: 'm', messages });
      return 'lost' in sent ? sent.lost : sent;
    };
    expect(await lostBy([said('user')])).toEqual([]);
    expect(await lostBy([said('user'), said('assistant'), said('user')])).toEqual([
      'messages[].content[].prompt_cache_breakpoint',
    ]);
  });
});
