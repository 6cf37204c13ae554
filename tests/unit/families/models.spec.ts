import { describe, expect, it } from 'vitest';
import { isRefusal } from '#lib/core/errors';
import type { ModelFacts } from '#lib/core/facts/snapshot';
import type { Operation } from '#lib/core/families/family';
import { listedFamilies, modelsAnswer, modelsOperations } from '#lib/core/families/models';
import type { CallableModel } from '#lib/core/families/models/codex';
import { readFilePrice } from '#lib/core/schemas/price';
import { makeModel, makeOffer } from '#tests/unit/families/make';

/** A model that can be called in the protocols that its offers speak. */
const makeListed = (parts: Partial<ModelFacts>) => {
  const model = makeModel(parts);
  return { ...model, families: new Set(model.offers.flatMap((offer) => [...offer.families])) };
};

const models = [
  makeListed({
    id: 'vendor/a',
    name: 'A',
    createdAtMs: 1_700_000_000_500,
    contextTokens: 10,
    maxOutputTokens: 5,
  }),
  makeListed({ id: 'b', offers: [makeOffer({ families: new Set(['generate-content']) })] }),
];

function operation(name: string, prefix: 'v1' | 'v1beta'): Operation {
  const found = modelsOperations.find((one) => one.name === name && one.prefixes.includes(prefix));
  if (!found) throw new Error(`no ${name}`);
  return found;
}

const bare = { params: {}, headers: {}, query: '' };

describe('GET /v1/models (contract: families/model-lists, families/list-shape)', () => {
  it('a model is deprecated if all of its offers end, and retires with the last one', () => {
    const ending = (servedUntilMs: number | null) => makeOffer({ servedUntilMs });
    const entryOf = (...offers: ReturnType<typeof makeOffer>[]) =>
      Object(modelsAnswer(operation('models.list', 'v1'), bare, [makeListed({ id: 'a', offers })])).data[0];
    expect(entryOf(ending(86_400_000), ending(172_800_000))).toMatchObject({
      lifecycle: 'deprecated',
      retires_at: '1970-01-03T00:00:00.000Z',
    });
    expect(entryOf(ending(86_400_000), ending(null))).toMatchObject({
      lifecycle: 'active',
      retires_at: null,
    });
  });

  it('lists entries that the chat and the messages SDKs both read', () => {
    expect(modelsAnswer(operation('models.list', 'v1'), bare, models)).toEqual({
      object: 'list',
      data: [
        {
          id: 'vendor/a',
          object: 'model',
          created: 1_700_000_000,
          owned_by: 'vendor',
          type: 'model',
          name: 'A',
          display_name: 'A',
          created_at: '2023-11-14T22:13:20.500Z',
          lifecycle: 'active',
          retires_at: null,
          context_length: 10,
          max_input_tokens: 10,
          max_tokens: 5,
          architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        },
        expect.objectContaining({ id: 'b', owned_by: 'provider' }),
      ],
      has_more: false,
      first_id: 'vendor/a',
      last_id: 'b',
    });
    expect(modelsAnswer(operation('models.list', 'v1'), bare, [])).toMatchObject({
      data: [],
      first_id: null,
      last_id: null,
    });
  });

  it('answers a client that shows its key the generate-content way in that shape', () => {
    const expected = {
      models: [
        expect.objectContaining({
          name: 'models/vendor/a',
          displayName: 'A',
          inputTokenLimit: 10,
          outputTokenLimit: 5,
          supportedGenerationMethods: ['generateContent', 'countTokens'],
        }),
        expect.objectContaining({ supportedGenerationMethods: ['generateContent', 'countTokens'] }),
      ],
    };
    const list = operation('models.list', 'v1');
    expect(modelsAnswer(list, { ...bare, headers: { 'x-goog-api-key': 'k' } }, models)).toEqual(expected);
    expect(modelsAnswer(list, { ...bare, query: 'pageSize=1001&key=k' }, models)).toEqual(expected);
    expect(modelsAnswer(operation('models.list', 'v1beta'), bare, models)).toEqual(expected);
  });
});

describe('the protocols of a client that asks for models (contract: families/model-lists)', () => {
  it.each([
    [
      'v1',
      {},
      '',
      [
        'chat',
        'responses',
        'images',
        'videos',
        'completions',
        'embeddings',
        'rerank',
        'moderations',
        'speech',
        'transcriptions',
        'realtime',
      ],
    ],
    ['v1', { 'anthropic-version': '2023-06-01' }, '', ['messages']],
    ['v1', { 'x-api-key': 'k' }, '', ['messages']],
    ['v1', { 'x-goog-api-key': 'k' }, '', ['generate-content', 'embed-content']],
    ['v1', {}, 'key=k', ['generate-content', 'embed-content']],
    ['v1beta', { 'x-api-key': 'k' }, '', ['generate-content', 'embed-content']],
  ] as const)('under /%s, with headers %j and query "%s": %j', (prefix, headers, query, families) => {
    expect(listedFamilies(operation('models.list', prefix), { headers, query })).toEqual(families);
  });
});

describe('the list as Codex asks for it (contract: families/codex-list)', () => {
  const responses = makeOffer({ families: new Set(['responses', 'chat']) });
  const listed = [
    makeListed({
      id: 'vendor/coder',
      name: 'Coder',
      contextTokens: 128_000,
      input: ['text', 'image', 'pdf'],
      offers: [responses],
    }),
    makeListed({ id: 'vendor/chatty', offers: [makeOffer({ families: new Set(['chat']) })] }),
    makeListed({ id: 'openai/gpt-5.4', offers: [responses] }),
    makeListed({ id: 'smart', contextTokens: 0, offers: [responses] }),
  ];
  const list = operation('models.list', 'v1');
  const ask = (query: string, headers = {}) =>
    Object(modelsAnswer(list, { ...bare, query, headers }, listed));

  it('the list for Codex has the models of the responses family in addition to the usual list', () => {
    const answer = ask('client_version=0.155.0');
    expect({ ...answer, models: undefined }).toEqual({ ...ask(''), models: undefined });
    expect(answer.models.map(({ slug }: { slug: string }) => slug)).toEqual(['vendor/coder', 'smart']);
    expect(answer.models[0]).toMatchObject({
      display_name: 'Coder',
      context_window: 128_000,
      input_modalities: ['text', 'image'],
      visibility: 'list',
      supported_in_api: true,
    });
    expect(answer.models[1]).toMatchObject({ context_window: null });
  });

  it('has every member that a version of Codex requires, in words that each of them knows', () => {
    const [entry] = ask('client_version=0.99.0').models;
    expect(entry).toMatchObject({
      slug: expect.any(String),
      supported_reasoning_levels: [],
      shell_type: 'shell_command',
      priority: expect.any(Number),
      base_instructions: expect.stringContaining('coding agent'),
      model_messages: { instructions_template: entry.base_instructions },
      supports_reasoning_summaries: false,
      support_verbosity: false,
      apply_patch_tool_type: null,
      truncation_policy: { mode: 'bytes', limit: 10_000 },
      supports_parallel_tool_calls: false,
      experimental_supported_tools: [],
    });
  });

  it('the list for Codex is that of a page, and absent for other clients', () => {
    expect(ask('client_version=0.155.0&limit=1').models).toHaveLength(1);
    for (const query of ['', 'client_version=', 'version=1']) expect(ask(query)).not.toHaveProperty('models');
    expect(ask('client_version=1', { 'x-goog-api-key': 'k' })).not.toHaveProperty('data');
  });
});

describe('GET /v1/models/{id}', () => {
  it('GET /v1/models/{id} gives the entry, or null for a model that the key may not see', () => {
    const read = operation('models.read', 'v1');
    expect(modelsAnswer(read, { ...bare, params: { model: 'vendor/a' } }, models)).toMatchObject({
      id: 'vendor/a',
    });
    expect(modelsAnswer(read, { ...bare, params: { model: 'c' } }, models)).toBeNull();
    expect(
      modelsAnswer(operation('models.read', 'v1beta'), { ...bare, params: { model: 'b' } }, models),
    ).toMatchObject({
      name: 'models/b',
    });
  });
});

describe('an entry of the list (contract: families/entry-facts)', () => {
  const entryOf = (model: CallableModel) =>
    modelsAnswer(operation('models.read', 'v1'), { ...bare, params: { model: model.id } }, [model]);

  it('shows the price of the first offer in dollars per token or unit, exact to the last digit', () => {
    const price = readFilePrice({
      input: '2',
      cachedInput: '0.000000001',
      cacheWrite5m: '2.5',
      output: '1234567.891',
      image: { default: '0.04', large: '0.08' },
      request: '0.005',
      webSearch: '10',
      characters: '15',
      audioHour: '0.36',
    });
    const offers = [makeOffer({ price: { id: 'p', effectiveAtMs: 0, price } }), makeOffer({ id: 'second' })];
    expect(entryOf(makeListed({ offers }))).toMatchObject({
      pricing: {
        prompt: '0.000002',
        completion: '1.234567891',
        input_cache_read: '0.000000000000001',
        input_cache_write: '0.0000025',
        image: '0.04',
        request: '0.005',
        web_search: '10',
        character: '0.000015',
        audio_second: '0.0001',
      },
    });
  });

  it('omits what the catalogue does not know, and shows 0 for what is free', () => {
    const free = makeOffer({ price: { id: 'p', effectiveAtMs: 0, price: readFilePrice({ input: '0' }) } });
    const model = makeListed({
      contextTokens: 0,
      maxOutputTokens: 0,
      input: ['text', 'pdf', 'file'],
      offers: [free],
    });
    expect(entryOf(model)).toMatchObject({
      context_length: null,
      max_input_tokens: null,
      max_tokens: null,
      architecture: { input_modalities: ['text', 'file'] },
      pricing: { prompt: '0', completion: '0' },
    });
  });
});

describe('pages (contract: families/paging)', () => {
  const many = ['a', 'b', 'c', 'd', 'e'].map((id) => makeListed({ id }));

  function shared(query: string) {
    const answer = modelsAnswer(operation('models.list', 'v1'), { ...bare, query }, many);
    if (isRefusal(answer)) return answer.code;
    const { data, has_more: more, first_id: first, last_id: last } = Object(answer);
    return [data.map(({ id }: { id: string }) => id).join(''), more, first, last];
  }

  it.each([
    ['', ['abcde', false, 'a', 'e']],
    ['limit=2', ['ab', true, 'a', 'b']],
    ['limit=5', ['abcde', false, 'a', 'e']],
    ['limit=2&after_id=b', ['cd', true, 'c', 'd']],
    ['limit=2&after_id=d', ['e', false, 'e', 'e']],
    ['after_id=e', ['', false, null, null]],
    ['limit=2&before_id=d', ['bc', true, 'b', 'c']],
    ['limit=9&before_id=c', ['ab', false, 'a', 'b']],
    ['after_id=a&before_id=d&limit=1', ['b', true, 'b', 'b']],
    ['after_id=d&before_id=b', ['', false, null, null]],
    ['limit=0', 'invalid_body'],
    ['limit=many', 'invalid_body'],
    ['limit=-1', 'invalid_body'],
    ['after_id=x', 'invalid_body'],
    ['before_id=x', 'invalid_body'],
  ])('of the shared shape: %s', (query, expected) => expect(shared(query)).toEqual(expected));

  it('of the generate-content shape, until no token comes', () => {
    const names: string[] = [];
    let token = '';
    for (let pages = 1; pages <= 3; pages += 1) {
      const query = `pageSize=2${token && `&pageToken=${token}`}`;
      const answer = Object(modelsAnswer(operation('models.list', 'v1beta'), { ...bare, query }, many));
      names.push(answer.models.map(({ name }: { name: string }) => name).join());
      token = answer.nextPageToken ?? '';
      expect(token === '').toBe(pages === 3);
    }
    expect(names).toEqual(['models/a,models/b', 'models/c,models/d', 'models/e']);
  });

  it.each(['pageSize=-1', 'pageSize=x', 'pageToken=x', 'page_token=x'])('%s is not a valid page', (query) => {
    const refused = modelsAnswer(operation('models.list', 'v1beta'), { ...bare, query }, many);
    expect(refused).toMatchObject({ code: 'invalid_body' });
  });
});
