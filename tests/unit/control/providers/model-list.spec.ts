import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { familiesFor, readModelList } from '#lib/control/providers/model-list';

const only = (row: unknown) => readModelList({ data: [row] })?.entries[0];

describe('a list of models (contract: control-plane/discover-models)', () => {
  it('is read in the form of OpenAI, with what servers add to it', () => {
    expect(only({ id: 'llama3.2:latest', object: 'model', owned_by: 'library' })).toEqual({
      upstreamModel: 'llama3.2:latest',
      name: null,
      kind: 'text',
      contextTokens: null,
      maxOutputTokens: null,
      input: null,
      abilities: {},
    });
    expect(only({ id: 'qwen', max_model_len: 32768 })).toMatchObject({ contextTokens: 32768 });
    expect(
      only({
        id: 'acme/large',
        name: 'Acme: Large',
        context_length: 200_000,
        architecture: { input_modalities: ['text', 'image', 'smell'] },
        top_provider: { max_completion_tokens: 8192 },
      }),
    ).toMatchObject({
      name: 'Acme: Large',
      contextTokens: 200_000,
      maxOutputTokens: 8192,
      input: ['text', 'image'],
    });
    expect(only({ id: 'm', context_window: 10, max_completion_tokens: 5 })).toMatchObject({
      contextTokens: 10,
      maxOutputTokens: 5,
    });
    expect(only({ id: 'm', meta: { n_ctx_train: 4096 } })).toMatchObject({ contextTokens: 4096 });
  });

  it('says what models can do, where it says so (contract: control-plane/discover-models)', () => {
    const can = (row: object) => only({ id: 'm', ...row })?.abilities;
    expect(can({ capabilities: { function_calling: true, vision: false, completion_chat: true } })).toEqual({
      tools: true,
      images: false,
    });
    expect(can({ capabilities: { pdf_input: { supported: true }, thinking: { supported: false } } })).toEqual(
      {
        pdf: true,
        thinking: false,
      },
    );
    expect(can({ supported_parameters: ['tools', 'structured_outputs', 'seed'] })).toEqual({
      tools: true,
      schemas: true,
    });
    expect(can({ capabilities: ['tool_use'], thinking: true })).toEqual({ tools: true, thinking: true });
    expect(can({ capabilities: 'all', thinking: 'yes' })).toEqual({});
  });

  it('is read in the form of Anthropic, page by page', () => {
    const page = readModelList({
      data: [
        {
          type: 'model',
          id: 'claude-x',
          display_name: 'Claude X',
          max_input_tokens: 200_000,
          max_tokens: 64_000,
        },
      ],
      has_more: true,
      last_id: 'claude-x',
    });
    expect(page?.entries[0]).toMatchObject({
      name: 'Claude X',
      contextTokens: 200_000,
      maxOutputTokens: 64_000,
    });
    expect(page?.next).toEqual({ limit: '1000', after_id: 'claude-x' });
    expect(readModelList({ data: [], has_more: true })?.next).toBeNull();
  });

  it('is read in the form of Google, page by page', () => {
    const page = readModelList({
      models: [
        {
          name: 'models/gemini-x',
          displayName: 'Gemini X',
          inputTokenLimit: 1_000_000,
          outputTokenLimit: 65_536,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        },
        { name: 'models/gemini-embedding-x', supportedGenerationMethods: ['embedContent'] },
        { name: 'models/veo-x', supportedGenerationMethods: ['predictLongRunning'] },
      ],
      nextPageToken: 'abc',
    });
    expect(page?.entries.map(({ upstreamModel, kind }) => [upstreamModel, kind])).toEqual([
      ['gemini-x', 'text'],
      ['gemini-embedding-x', 'embeddings'],
      ['veo-x', 'other'],
    ]);
    expect(page?.entries[0]).toMatchObject({
      name: 'Gemini X',
      contextTokens: 1_000_000,
      maxOutputTokens: 65_536,
    });
    expect(page?.next).toEqual({ pageSize: '1000', pageToken: 'abc' });
  });

  it('may be a bare array', () => {
    expect(readModelList([{ id: 'a', type: 'embedding' }])?.entries).toMatchObject([{ kind: 'embeddings' }]);
  });

  it.each(['gone', null, 7, {}, { data: {} }, { error: { message: 'no' } }, { models: 'all' }])(
    'is not %j',
    (body) => {
      expect(readModelList(body)).toBeNull();
    },
  );

  it.each([
    ['a control character', 'a\u0007b'],
    ['a line break', 'a\nb'],
    ['an override of direction', 'a\u202Eb'],
    ['half a surrogate pair', 'a\ud800'],
    ['more than 300 characters', 'x'.repeat(301)],
    ['only spaces', '  '],
  ])('leaves out a name with %s', (_, id) => {
    expect(
      readModelList({ data: [{ id }, { id: 'good' }] })?.entries.map((one) => one.upstreamModel),
    ).toEqual(['good']);
  });

  it('believes no number that cannot be a number of tokens', () => {
    for (const context_length of [-1, 0, 1.5, 1e300, '4096', null, [4096], 2_147_483_648])
      expect(only({ id: 'm', context_length })).toMatchObject({ contextTokens: null });
  });

  it('reads no inherited member', () => {
    expect(readModelList({ data: [Object.create({ id: 'ghost' })] })?.entries).toEqual([]);
    expect(readModelList(JSON.parse('{"__proto__": {"data": [{"id": "ghost"}]}}'))).toBeNull();
  });

  it('throws for no JSON whatever', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (row, other) => {
        readModelList(row);
        const read = readModelList({ data: [row, { id: other, name: row, meta: other }], has_more: other });
        for (const { upstreamModel } of read?.entries ?? []) expect(upstreamModel).not.toBe('');
      }),
    );
  });

  it('says by the name what a model is for', () => {
    const kinds = {
      'text-embedding-3-small': 'embeddings',
      'nomic-embed-text': 'embeddings',
      'BAAI/bge-m3': 'embeddings',
      'rerank-v3.5': 'rerank',
      'whisper-1': 'other',
      'gpt-image-1': 'other',
      'omni-moderation-latest': 'other',
      'gpt-5.4': 'text',
      'qwen3:8b': 'text',
    };
    for (const [id, kind] of Object.entries(kinds)) expect(only({ id })?.kind, id).toBe(kind);
    expect(familiesFor({ kind: 'text', upstreamModel: 'm' }, ['embeddings', 'chat', 'completions'])).toEqual([
      'chat',
    ]);
    expect(familiesFor({ kind: 'other', upstreamModel: 'm' }, ['chat'])).toEqual([]);
  });

  it.each([
    ['vertex', 'claude-sonnet-4-5@20250929', ['messages']],
    ['vertex', 'gemini-3-pro', ['generate-content']],
    ['vertex', 'meta/llama-4-maverick-17b-128e-instruct-maas', ['chat']],
    ['bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', ['messages']],
    ['bedrock', 'openai.gpt-oss-120b-1:0', ['chat']],
  ] as const)(
    'at the cloud %s, %s is offered in the protocol of its vendor',
    (cloud, upstreamModel, families) => {
      const spoken = ['chat', 'messages', 'generate-content'];
      expect(familiesFor({ kind: 'text', upstreamModel }, spoken, { messages: cloud })).toEqual(families);
    },
  );
});
