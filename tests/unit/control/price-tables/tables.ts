/** Small tables in the forms of the real ones. All models and prices are made up. */
export const modelsDev = (models: Record<string, object>, provider = 'openai') => ({
  [provider]: {
    id: provider,
    env: ['KEY'],
    npm: '@ai-sdk/openai',
    name: provider,
    doc: 'https://example.test/models',
    models: Object.fromEntries(
      Object.entries(models).map(([id, facts]) => [
        id,
        {
          id,
          name: id.toUpperCase(),
          attachment: true,
          reasoning: false,
          temperature: true,
          tool_call: true,
          release_date: '2026-03-01',
          last_updated: '2026-03-01',
          modalities: { input: ['text', 'image'], output: ['text'] },
          open_weights: false,
          limit: { context: 400_000, output: 32_000 },
          ...facts,
        },
      ]),
    ),
  },
});

export const litellm = (models: Record<string, object>) => ({
  sample_spec: { litellm_provider: 'one of https://example.test', input_cost_per_token: 0 },
  ...Object.fromEntries(
    Object.entries(models).map(([key, facts]) => [
      key,
      {
        litellm_provider: 'openai',
        mode: 'chat',
        max_input_tokens: 400_000,
        max_output_tokens: 32_000,
        ...facts,
      },
    ]),
  ),
});
