import { describe, expect, it } from 'vitest';
import { fullRequests, linked, pdf, plainText, png, schema } from '#tests/unit/translation/full/requests';
import { sendAs } from '#tests/unit/translation/sent';

/** What the model gets of the full request of each other protocol, and what is named as lost. */
const expected = {
  chat: {
    lost: [
      'seed',
      'frequency_penalty',
      'presence_penalty',
      'service_tier',
      'metadata',
      'prompt_cache_key',
      'prompt_cache_retention',
      'prompt_cache_options',
      'verbosity',
      'response_format.json_schema.name',
      'response_format.json_schema.description',
      'messages[].content[].image_url.detail',
      'temperature',
      'top_p',
      'top_k',
    ],
    body: {
      model: 'claude-sonnet-5',
      max_tokens: 5_000,
      stop_sequences: ['END', 'STOP'],
      output_config: { effort: 'low', format: { type: 'json_schema', schema: schema } },
      metadata: { user_id: 's1' },
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'image', source: { type: 'url', url: linked } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              title: 'a.pdf',
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I call.' },
            { type: 'tool_use', id: 'a', name: 'one', input: { x: 1 } },
            { type: 'tool_use', id: 'toolu_mgt1_Yjox', name: 'patch', input: { input: '***' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'Done' },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_mgt1_Yjox',
              content: [
                { type: 'text', text: 'Seen' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
              ],
            },
            { type: 'text', text: 'Be kind.' },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [
        {
          name: 'one',
          description: 'First',
          input_schema: schema,
          cache_control: { type: 'ephemeral' },
          strict: true,
        },
        { name: 'patch', description: 'Patches', input_schema: plainText },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      stream: true,
      thinking: { display: 'summarized', type: 'adaptive' },
    },
  },
  responses: {
    lost: [
      'prompt_cache_key',
      'prompt_cache_retention',
      'service_tier',
      'text.format.name',
      'text.format.description',
      'text.verbosity',
      'input[].content[].detail',
      'temperature',
      'top_p',
    ],
    body: {
      model: 'claude-sonnet-5',
      max_tokens: 5_000,
      output_config: { effort: 'low', format: { type: 'json_schema', schema: schema } },
      metadata: { user_id: 's1' },
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look', cache_control: { type: 'ephemeral' } },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'image', source: { type: 'url', url: linked } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              title: 'a.pdf',
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I call.' },
            { type: 'tool_use', id: 'a', name: 'one', input: { x: 1 } },
            { type: 'tool_use', id: 'toolu_mgt1_Yjox', name: 'patch', input: { input: '***' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'Done' },
            {
              type: 'tool_result',
              tool_use_id: 'toolu_mgt1_Yjox',
              content: [
                { type: 'text', text: 'Seen' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
              ],
            },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [
        { name: 'one', description: 'First', input_schema: schema, strict: true },
        { name: 'patch', description: 'Patches', input_schema: plainText },
        { name: 'files__read', input_schema: schema },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      stream: true,
      thinking: { display: 'summarized', type: 'adaptive' },
    },
  },
  'generate-content': {
    lost: [
      'generationConfig.seed',
      'generationConfig.presencePenalty',
      'generationConfig.frequencyPenalty',
      'generationConfig.temperature',
      'generationConfig.topP',
      'generationConfig.topK',
    ],
    body: {
      model: 'claude-sonnet-5',
      max_tokens: 5_000,
      stop_sequences: ['END'],
      output_config: {
        effort: 'low',
        format: {
          type: 'json_schema',
          schema: { type: 'object', properties: { x: { type: 'number' } }, additionalProperties: false },
        },
      },
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Be kind.' },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'image', source: { type: 'url', url: linked } },
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              title: 'a.pdf',
            },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I call.' },
            { type: 'tool_use', id: 'a', name: 'one', input: { x: 1 } },
            { type: 'tool_use', id: 'call', name: 'two', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'Done' },
            { type: 'tool_result', tool_use_id: 'call', content: 'No', is_error: true },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
      tools: [
        { name: 'one', description: 'First', input_schema: schema },
        { name: 'two', input_schema: { type: 'object', properties: { a: { type: ['string', 'null'] } } } },
      ],
      tool_choice: { type: 'auto' },
      thinking: { display: 'summarized', type: 'enabled', budget_tokens: 2_000 },
    },
  },
};

describe('a full request on a model of messages (contract: translation/losses)', () => {
  it.each(['chat', 'responses', 'generate-content'] as const)(
    'arrives with all that is carried and nothing else, from %s',
    async (from) => {
      const upstream = { name: 'claude-sonnet-5', reasoning: true };
      const sent = await sendAs(from, 'messages', fullRequests[from], upstream);
      expect(sent).toEqual({
        ...expected[from],
        path: '/messages',
        betas: 'pdfs-2024-09-25,structured-outputs-2025-11-13',
      });
    },
  );

  it('has a budget of thinking for a model that knows no effort', async () => {
    const upstream = { name: 'claude-haiku-4-5', reasoning: true };
    const { lost, body } = expected.chat;
    const { effort: _, ...config } = body.output_config;
    expect(await sendAs('chat', 'messages', fullRequests.chat, upstream)).toEqual({
      path: '/messages',
      betas: expect.any(String),
      lost,
      body: {
        ...body,
        model: 'claude-haiku-4-5',
        thinking: { type: 'enabled', budget_tokens: 4_000, display: 'summarized' },
        output_config: config,
      },
    });
  });

  it('shows thinking of a model that takes no budget of it, if the client wants to see it', async () => {
    const upstream = { name: 'claude-opus-5-5', reasoning: true };
    const { lost, body } = expected['generate-content'];
    expect(await sendAs('generate-content', 'messages', fullRequests['generate-content'], upstream)).toEqual({
      path: '/messages',
      betas: expect.any(String),
      lost,
      body: { ...body, model: 'claude-opus-5-5', thinking: { type: 'adaptive', display: 'summarized' } },
    });
  });

  it('has a tool for its schema instead of thinking, for a model that the package does not know', async () => {
    const upstream = { name: 'mystery-1', reasoning: true };
    const { lost, body } = expected.chat;
    const { thinking: _, output_config: __, tools, ...rest } = body;
    const [{ strict: ___, ...one } = {}, patch] = tools;
    expect(await sendAs('chat', 'messages', fullRequests.chat, upstream)).toEqual({
      path: '/messages',
      betas: 'pdfs-2024-09-25',
      lost: [...lost, 'tools[].function.strict'],
      body: {
        ...rest,
        model: 'mystery-1',
        tools: [
          one,
          patch,
          { name: 'json', description: 'Respond with a JSON object.', input_schema: schema },
        ],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      },
    });
  });
});
