import { describe, expect, it } from 'vitest';
import type { StoredCatalogue, StoredOffer } from '#lib/control/catalogue/difference';
import { contradiction } from '#lib/control/price-tables/pure/accept';
import { canonOf } from '#lib/control/price-tables/pure/canon';
import { isPlainlyNew, propose, type Reading, seenKey } from '#lib/control/price-tables/pure/propose';
import { readTable } from '#lib/control/price-tables/pure/read-table';
import { type FilePrice, readFilePrice } from '#lib/core/schemas/price';
import { litellm, modelsDev } from '#tests/unit/control/price-tables/tables';

interface Given {
  readonly slug?: string;
  readonly price?: FilePrice | null;
  readonly retires?: string;
  readonly withdrawn?: boolean;
  readonly aliases?: string[];
}

/** A catalogue of OpenAI with these offers, by the name of the model there. */
function catalogue(offers: Record<string, Given>): StoredCatalogue {
  const provider = (id: string, chat: string) => ({
    ...{ id, name: id, families: { chat }, credential: null, sealed: false, credentialHeaders: {} },
    ...{
      auth: null,
      variants: {},
      onDisconnect: 'drain',
      pricesFrom: null,
      stores: [],
      acceptNewModels: false,
    },
  });
  const rows = Object.entries(offers).map(([upstreamModel, given], position): [string, StoredOffer] => {
    const { slug = `openai/${upstreamModel}`, price = { input: '2', output: '8' }, retires = null } = given;
    const nothing = {
      ...{ outputBudgetField: null, streamUsage: null, streamEnd: null, denyBetas: [] },
      ...{ abilities: {}, operations: [] },
    };
    return [
      `${slug} openai`,
      {
        id: `offer-${upstreamModel}`,
        modelId: slug,
        providerId: 'openai',
        facts: { upstreamModel, families: ['chat'], position, retires, ...nothing },
        withdrawn: given.withdrawn ?? false,
        price: price && readFilePrice(price),
      },
    ];
  });
  const model = (id: string, aliases: string[] = []) => ({
    ...{ id, name: id, aliases, contextTokens: 1000, maxOutputTokens: 100, reasoning: false },
    ...{ input: ['text' as const], output: ['text' as const], abilities: {} },
  });
  return {
    credentials: new Map(),
    providers: new Map([
      ['openai', provider('openai', 'https://api.openai.com/v1')],
      ['lab', provider('lab', 'http://localhost:8000/v1')],
    ]),
    models: new Map(
      rows.map(([, { modelId, facts }]) => [modelId, model(modelId, offers[facts.upstreamModel]?.aliases)]),
    ),
    offers: new Map(rows),
  };
}

function reading(table: object, seen: readonly string[] = []): Reading {
  const { id, entries } = readTable(JSON.stringify(table));
  return { id, entries, seen: new Set(seen.map((model) => seenKey('openai', model))) };
}

const cost = (input: number, output: number, rest: object = {}) => ({ cost: { input, output, ...rest } });
const rates = (input: number, output: number, rest: object = {}) => ({
  ...{ input_cost_per_token: input / 1e6, output_cost_per_token: output / 1e6 },
  ...rest,
});
const shown = (stored: StoredCatalogue, ...readings: Reading[]) =>
  propose(stored, readings).proposals.map(({ kind, model, before, after, tables, others, warnings }) => ({
    ...{ kind, model, before, after, tables },
    ...(others.length > 0 && { others }),
    ...(warnings.length > 0 && { warnings }),
  }));

describe('what price tables propose (contract: control-plane/proposals)', () => {
  it('is nothing if they say what is in force, however they say it', () => {
    const stored = catalogue({ a: { price: { input: '2', output: '8', cachedInput: '0.5' } } });
    const dev = reading(modelsDev({ a: cost(2, 8, { cache_read: 0.5, reasoning: 8 }) }));
    expect(shown(stored, dev, reading(litellm({ a: rates(2, 8) })))).toEqual([]);
  });

  it('is a price on which both agree, or each price with what the other table says', () => {
    const stored = catalogue({ a: {}, b: {}, c: {} });
    const dev = reading(modelsDev({ a: cost(3, 9), b: cost(3, 9), c: cost(2, 8) }));
    const other = reading(litellm({ a: rates(3, 9), b: rates(4, 9), c: rates(4, 9) }));
    const [was, three, four] = ['$2 in, $8 out', '$3 in, $9 out', '$4 in, $9 out'];
    const price = { kind: 'price', before: was };
    const expected = [
      { ...price, model: 'openai/a', after: three, tables: ['models.dev', 'litellm'] },
      {
        ...price,
        model: 'openai/b',
        after: three,
        tables: ['models.dev'],
        others: [{ table: 'litellm', says: four }],
      },
      {
        ...price,
        model: 'openai/b',
        after: four,
        tables: ['litellm'],
        others: [{ table: 'models.dev', says: three }],
      },
      {
        ...{ ...price, model: 'openai/c', after: four, tables: ['litellm'] },
        others: [{ table: 'models.dev', says: 'the price in force' }],
      },
    ];
    const found = shown(stored, dev, other);
    expect(found).toHaveLength(4);
    expect(found).toEqual(expect.arrayContaining(expected));
  });

  it('says what stays, what leaps, what is free and what was not read', () => {
    const price = {
      input: '2',
      output: '8',
      cacheWrite1h: '4',
      tiers: [{ aboveInputTokens: 9, input: '3' }],
    };
    const stored = catalogue({ a: { price }, b: {}, c: { price: { image: '0.04' } } });
    const found = shown(
      stored,
      reading(modelsDev({ a: cost(20, 8, { per_mile: 1 }), b: cost(0, 8), c: cost(1, 2) })),
    );
    expect(found.map(({ warnings }) => warnings)).toEqual([
      [
        'the price of input would be 10 times as high or more',
        'not in the table, so it stays as it is: cacheWrite1h, above 9 tokens',
        'not read of models.dev: cost.per_mile',
      ],
      ['input would be free of charge'],
      ['not in the table, so it stays as it is: image'],
    ]);
    const pieces = reading(
      litellm({ a: rates(2, 8), c: { mode: 'image_generation', output_cost_per_image: 0.05 } }),
    );
    expect(shown(stored, pieces)).toMatchObject([{ model: 'openai/c', after: '$0.05 an image' }]);
    const mixed = reading(
      litellm({ b: { mode: 'image_generation', ...rates(2, 8), output_cost_per_image: 0.05 } }),
    );
    expect(propose(stored, [mixed]).notCompared).toEqual(['openai/b at openai: image (litellm)']);
  });

  it('is a last day, a withdrawal of what is deprecated or gone, and nothing of what is withdrawn', () => {
    const stored = catalogue({
      a: {},
      b: {},
      gone: {},
      never: {},
      c: { retires: '2027-01-01' },
      d: { withdrawn: true },
    });
    const day = (given: string) => rates(2, 8, { deprecation_date: given });
    const dev = reading(modelsDev({ b: { ...cost(2, 8), status: 'deprecated' }, d: cost(1, 1) }), [
      'gone',
      'a',
    ]);
    const found = shown(stored, dev, reading(litellm({ a: day('2027-02-01'), c: day('2027-01-01') })));
    expect(found).toMatchObject([
      { kind: 'retirement', model: 'openai/a', before: null, after: '2027-02-01', tables: ['litellm'] },
      { kind: 'withdrawal', model: 'openai/b', after: 'withdrawn: deprecated, without a day' },
      {
        kind: 'withdrawal',
        model: 'openai/gone',
        after: 'withdrawn: no longer listed',
        tables: ['models.dev'],
      },
    ]);
  });

  it('is a new model or an offer of a known one, and a count of those that are left out', () => {
    const stored = catalogue({ a: {}, w: { withdrawn: true } });
    const { proposals, notProposed, unlisted } = propose(stored, [
      reading(
        modelsDev({
          a: cost(2, 8),
          w: cost(2, 8),
          fresh: { ...cost(1, 4), reasoning: true },
          'vendor/a': cost(1, 1),
          drawing: { ...cost(1, 1), modalities: { input: ['text'], output: ['image'] } },
          old: { ...cost(1, 1), status: 'deprecated' },
          bare: {},
          gift: cost(0, 0),
          argued: cost(5, 5),
        }),
      ),
      reading(litellm({ argued: rates(6, 6), fresh: rates(1, 4) })),
    ]);
    expect(
      proposals.map(({ model, upstreamModel, after, before }) => [model, upstreamModel, after, before]),
    ).toEqual([
      ['openai/argued', 'argued', '$5 in, $5 out', null],
      ['openai/fresh', 'fresh', '$1 in, $4 out', null],
      ['openai/gift', 'gift', '$0 in, $0 out', null],
      ['openai/vendor/a', 'vendor/a', '$1 in, $1 out', null],
    ]);
    expect(proposals.filter(isPlainlyNew).map(({ model }) => model)).toEqual([
      'openai/fresh',
      'openai/vendor/a',
    ]);
    expect(proposals[1]?.accept).toMatchObject({
      model: { name: 'FRESH', contextTokens: 400_000, reasoning: true, released: '2026-03-01' },
    });
    expect(notProposed).toEqual({ withdrawn: 1, otherKinds: 1, unpriced: 1, deprecated: 1, deployments: 0 });
    expect(unlisted).toEqual(['lab']);
  });

  it('is the step of a "-latest" alias to the newest model of its line that is offered', () => {
    const stored = catalogue({ a1: { aliases: ['openai/a-latest', 'openai/a'] }, a2: {}, a4: {}, b9: {} });
    const line = (family: string, day: string) => ({ ...cost(2, 8), family, release_date: day });
    const table = {
      a1: line('a', '2026-01-01'),
      a2: line('a', '2026-02'),
      a3: line('a', '2026-03-01'),
      a4: { ...line('a', '2026-04-01'), status: 'deprecated' },
      b9: line('b', '2026-09-01'),
    };
    const found = shown(stored, reading(modelsDev(table))).filter(({ kind }) => kind === 'alias');
    expect(found).toMatchObject([
      {
        before: 'openai/a-latest is openai/a1',
        after: 'openai/a-latest is openai/a2',
        tables: ['models.dev'],
      },
    ]);
  });

  it('has another id as soon as what is in force or what is proposed is another', () => {
    const idOf = (price: FilePrice, input: number) =>
      propose(catalogue({ a: { price } }), [reading(modelsDev({ a: cost(input, 9) }))]).proposals[0]?.id;
    const first = idOf({ input: '2', output: '8' }, 3);
    expect(idOf({ output: '8', input: '2' }, 3)).toBe(first);
    expect(
      new Set([first, idOf({ input: '2.1', output: '8' }, 3), idOf({ input: '2', output: '8' }, 4)]).size,
    ).toBe(3);
  });

  it('cannot be accepted together if it changes one thing in two ways', () => {
    const { proposals } = propose(catalogue({ a: {}, b: {} }), [
      reading(modelsDev({ a: cost(3, 9), b: cost(3, 9) })),
      reading(litellm({ a: rates(4, 9, { deprecation_date: '2027-01-01' }), b: rates(3, 9) })),
    ]);
    expect(contradiction(proposals)?.map(({ model, kind }) => [model, kind])).toEqual([
      ['openai/a', 'price'],
      ['openai/a', 'price'],
    ]);
    expect(contradiction(proposals.slice(1))).toBeNull();
  });
});

describe('the provider of the tables that a provider is', () => {
  it.each([
    ['mine', { chat: 'https://api.openai.com/v1' }, 'openai'],
    ['openai', { chat: 'http://proxy.local/v1' }, null],
    ['azure', { chat: { env: 'AZURE_OPENAI_ADDRESS' } }, 'azure'],
    ['eu', { chat: 'https://name.openai.azure.com/openai/v1' }, 'azure'],
    ['us', { messages: 'https://bedrock-runtime.us-east-1.amazonaws.com' }, 'bedrock'],
    ['lab', { chat: { env: 'LAB' } }, null],
  ])('%s at %o is %s', (id, families, canon) => {
    expect(canonOf({ id, families })).toBe(canon);
  });
});
