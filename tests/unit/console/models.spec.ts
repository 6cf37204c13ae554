import { describe, expect, it } from 'vitest';
import { isPublicPage } from '#lib/console/addresses';
import { offerRowsOf, priceTableOf, protocolsOf } from '#lib/console/models/facts';
import { callableByFamily, scopeOfKey, viewCatalogue } from '#lib/console/models/list';
import { modelHref, modelRowOf } from '#lib/console/models/rows';
import { playgroundModels } from '#lib/console/playground/choices';
import { showTokens } from '#lib/console/show/tokens';
import { listModels } from '#lib/control/catalogue/list';
import { endOfDay } from '#lib/core/facts/retired';
import type { FamilyId } from '#lib/core/families/ids';
import { readFilePrice } from '#lib/core/schemas/price';
import { catalogueOf, modelOf, nowMs, offerAt } from '#tests/unit/routing/make';

const many = listModels(
  catalogueOf(
    ...Array.from({ length: 500 }, (_, n) => {
      const id = `acme/m${String(n).padStart(3, '0')}`;
      return modelOf(id, [offerAt('acme', id)], { name: `M${n}` });
    }),
  ),
  nowMs,
);
const view = (query: Record<string, string>) => viewCatalogue(many, query, { list: '/models', scope: null });

describe('the address of the catalogue', () => {
  it('pages through five hundred models', () => {
    const last = view({ page: '10' });
    expect([last.rows.length, last.found, last.page, last.pages]).toEqual([50, 500, 10, 10]);
    expect(last.rows.at(-1)?.id).toBe('acme/m499');
    expect([view({ page: '99' }).page, view({ page: '-1' }).page, view({ page: 'x' }).page]).toEqual([
      10, 1, 1,
    ]);
  });

  it('keeps what it says for the links of the page, and tells what it cannot read', () => {
    const read = view({
      search: 'm1',
      sort: '-input',
      compare: 'acme/m001',
      columns: 'input.output',
      maxInputPrice: 'dear',
      page: '1',
    });
    expect(read.texts).toEqual({
      ...{ search: 'm1', sort: '-input', compare: 'acme/m001', columns: 'input.output' },
      maxInputPrice: 'dear',
    });
    expect(read.faults).toEqual([expect.stringContaining('Max input price: must be an amount of dollars')]);
    expect(read.found).toBeGreaterThan(100);
    expect(read.sort).toEqual({ by: 'input', descending: true });
    expect(view({ sort: 'constructor' }).sort).toBeNull();
  });

  it('compares four models at most, those that are there', () => {
    const compare = ['acme/m001', 'nobody', 'acme/m002', 'acme/m001', 'acme/m003', 'acme/m004', 'acme/m005'];
    expect(view({ compare: compare.join(',') }).compared.map(({ id }) => id)).toEqual([
      ...['acme/m001', 'acme/m002', 'acme/m003', 'acme/m004'],
    ]);
  });
});

describe('what may be called', () => {
  const models = listModels(
    catalogueOf(
      modelOf('a', [offerAt('one', 'a')], { released: '2026-01-01' }),
      modelOf('b', [offerAt('one', 'b')], { released: '2026-02-01' }),
      modelOf('unpriced', [offerAt('one', 'unpriced', { price: null })]),
    ),
    nowMs,
  );

  it('by a key is what its list and the catalogue both allow', () => {
    expect(scopeOfKey(models, null)).toEqual(new Set(['a', 'b']));
    expect(scopeOfKey(models, ['b', 'unpriced', 'gone'])).toEqual(new Set(['b']));
  });

  it('in a protocol is sorted by age, the newest first', () => {
    expect(callableByFamily(models)).toEqual(new Map([['chat', ['b', 'a']]]));
  });
});

describe('the protocols of a model (contract: translation/when)', () => {
  const speaking = (families: readonly FamilyId[], output: readonly string[]) => {
    const offer = offerAt('one', 'a', { families: new Set(families) });
    const ready = { state: 'ready', url: new URL('https://one.test/v1') } as const;
    const provider = { ...offer.provider, families: new Map(families.map((family) => [family, ready])) };
    return listModels(catalogueOf(modelOf('a', [{ ...offer, provider }], { output })), nowMs);
  };

  it.each([
    [['messages'], ['text'], ['chat', 'responses', 'generate-content']],
    [
      ['responses', 'images', 'chat'],
      ['text', 'image'],
      ['messages', 'generate-content'],
    ],
    [['chat', 'responses', 'messages', 'generate-content'], ['text'], []],
    [['images'], ['image'], []],
    [['generate-content', 'videos'], ['video'], []],
  ] as const)('a model that speaks %j and produces %j is translated in %j', (native, output, translated) => {
    const models = speaking(native, output);
    expect(models.map((model) => protocolsOf(model).map(({ family }) => family))).toEqual([
      [...native, ...translated],
    ]);
    expect(playgroundModels(models)).toMatchObject([{ families: [...native, ...translated], translated }]);
  });
});

describe('a model to read', () => {
  it.each([
    [950, '950'],
    [4096, '4.1K'],
    [65_536, '65.5K'],
    [128_000, '128K'],
    [999_999, '1M'],
    [1_047_576, '1.05M'],
  ])('has %i tokens as %s', (count, text) => {
    expect(showTokens(count)).toBe(text);
  });

  it('has what its offers can do, and cannot (contract: routing/abilities)', () => {
    const known = {
      abilities: { tools: true, schemas: true, images: false },
      unserved: new Set(['chat.create']),
    };
    const [model] = listModels(
      catalogueOf(modelOf('a', [offerAt('one', 'a', known), offerAt('two')])),
      nowMs,
    );
    if (!model) throw new Error('one model is listed');
    expect(offerRowsOf(model, null)).toMatchObject([
      { can: 'tools, answers by a JSON schema', cannot: 'images, chat.create' },
      { can: '', cannot: '' },
    ]);
    expect(modelRowOf(model, '/models').capabilities).toEqual(['Tools', 'Structured output']);
  });

  it('has the price of a picture where it has none of tokens', () => {
    const price = {
      id: 'p',
      effectiveAtMs: 0,
      price: readFilePrice({ image: { default: '0.04', high: '0.2' } }),
    };
    const [model] = listModels(catalogueOf(modelOf('a', [offerAt('one', 'a', { price })])), nowMs);
    if (!model?.offers[0]) throw new Error('one model has one offer');
    expect(modelRowOf(model, '/models')).toMatchObject({ input: null, output: '$0.04 to $0.20 an image' });
    expect(priceTableOf(model.offers[0], (iso) => iso.slice(0, 10))).toEqual({
      provider: 'Provider',
      since: '1970-01-01',
      source: null,
      bands: ['Standard'],
      rows: [
        { name: 'Images', prices: ['$0.04 each'] },
        { name: 'Images, high', prices: ['$0.20 each'] },
      ],
    });
  });

  it.each([
    [
      'spoken text',
      { characters: '15' },
      '$15.00 per 1M characters',
      'Characters',
      '$15.00 per 1M characters',
    ],
    ['an hour of audio', { audioHour: '0.04' }, '$0.04 an hour', 'Audio', '$0.04 an hour'],
  ])('has the price of %s where it has none of tokens', (_name, file, output, name, cell) => {
    const price = { id: 'p', effectiveAtMs: 0, price: readFilePrice(file) };
    const [model] = listModels(catalogueOf(modelOf('a', [offerAt('one', 'a', { price })])), nowMs);
    if (!model?.offers[0]) throw new Error('one model has one offer');
    expect(modelRowOf(model, '/models')).toMatchObject({ input: null, output });
    expect(priceTableOf(model.offers[0], (iso) => iso)?.rows).toEqual([{ name, prices: [cell] }]);
  });

  it('says until which day it is served, where that is known of all its offers', () => {
    const until = (day: string) => ({ servedUntilMs: endOfDay(day) });
    const models = [
      modelOf('a', [offerAt('one', 'a', until('2027-02-28')), offerAt('two', 'a', until('2027-03-31'))]),
      modelOf('b', [offerAt('one', 'b', until('2027-02-28')), offerAt('two', 'b')]),
      modelOf('c', [offerAt('one', 'c', until('2026-10-23')), offerAt('two', 'c', until('2026-10-22'))]),
    ];
    const rows = listModels(catalogueOf(...models), nowMs).map((model) => modelRowOf(model, '/models'));
    expect(rows.map(({ retires, retired }) => [retires, retired])).toEqual([
      ['31 Mar 2027', false],
      [null, false],
      ['23 Oct 2026', true],
    ]);
  });

  it('leaves retired offers out and tells of them apart (contract: routing/retired)', () => {
    const gone = offerAt('gone', 'a', { servedUntilMs: nowMs });
    const last = offerAt('gone', 'b', { servedUntilMs: nowMs });
    const catalogue = catalogueOf(modelOf('a', [gone, offerAt('here', 'a')]), modelOf('b', [last]));
    const models = listModels(catalogue, nowMs);
    const shown = models.map(({ id, offers, retired }) => [
      id,
      offers.map(({ provider }) => provider),
      retired.map(({ provider, day }) => `${provider} ${day}`),
    ]);
    const day = new Date(nowMs - 1).toISOString().slice(0, 10);
    expect(shown).toEqual([
      ['a', ['here'], [`gone ${day}`]],
      ['b', [], [`gone ${day}`]],
    ]);
    const view = viewCatalogue(models, {}, { list: '/models', scope: null });
    expect(view.rows.map(({ id }) => id)).toEqual(['a']);
    expect(callableByFamily(models)).toEqual(new Map([['chat', ['a']]]));
    expect(playgroundModels(models).map(({ id }) => id)).toEqual(['a']);
    expect(listModels(catalogue, nowMs - 1).map(({ offers }) => offers.length)).toEqual([2, 1]);
  });

  it('has an address with its slashes, whatever else is in its slug', () => {
    expect(modelHref('/acme/models', 'a/b:free')).toBe('/acme/models/a/b%3Afree');
  });
});

describe('pages for strangers', () => {
  it.each(['/sign-in', '/models', '/models/openai/gpt-5.4', '/docs', '/docs/errors'])('%s is one', (path) => {
    expect(isPublicPage(path)).toBe(true);
  });

  it.each(['/', '/modelsx', '/acme/models', '/acme/docs', '/sign-in/x'])('%s is none', (path) => {
    expect(isPublicPage(path)).toBe(false);
  });
});
