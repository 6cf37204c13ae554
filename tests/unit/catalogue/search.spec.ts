import { describe, expect, it } from 'vitest';
import { listModels } from '#lib/control/catalogue/list';
import { findModels, type ModelFilters, sortModels } from '#lib/control/catalogue/search';
import { parseUsd } from '#lib/core/money';
import { readFilePrice } from '#lib/core/schemas/price';
import { catalogueOf, modelOf, offerAt } from '#tests/unit/routing/make';

const price = (file: Parameters<typeof readFilePrice>[0]) => ({
  id: 'p',
  effectiveAtMs: Date.UTC(2026, 6, 2),
  price: readFilePrice(file),
});

const models = listModels(
  catalogueOf(
    modelOf(
      'acme/large',
      [
        offerAt('acme', 'acme/large', { price: price({ input: '5', cachedInput: '0.5', output: '25' }) }),
        offerAt('host', 'acme/large', {
          price: price({ input: '4', output: '30', serviceTiers: { flex: { input: '2', output: '15' } } }),
          families: new Set(['messages']),
        }),
      ],
      {
        name: 'Large',
        contextTokens: 200_000,
        reasoning: true,
        released: '2026-09-01',
        aliases: ['big-one'],
      },
    ),
    modelOf(
      'acme/picture',
      [offerAt('acme', 'acme/picture', { price: price({ image: { default: '0.04', high: '0.2' } }) })],
      {
        name: 'Picture',
        contextTokens: 0,
        input: ['text', 'image'],
        output: ['image'],
        released: '2026-07',
      },
    ),
    modelOf('gift', [offerAt('host', 'gift', { price: price({ input: '0', output: '0' }) })], {
      name: 'gift',
    }),
    modelOf('later', [offerAt('host', 'later', { price: null })], { name: 'Later', released: '2027-01-01' }),
  ),
  Date.UTC(2026, 9, 1),
);

const found = (filters: ModelFilters) => findModels(models, filters).map(({ id }) => id);

describe('the filters of the catalogue', () => {
  it.each([
    [{}, ['acme/large', 'acme/picture', 'gift', 'later']],
    [{ search: 'LARGE acme' }, ['acme/large']],
    [{ search: 'big-one' }, ['acme/large']],
    [{ search: 'large picture' }, []],
    [{ provider: 'host' }, ['acme/large', 'gift', 'later']],
    [{ family: 'messages' }, ['acme/large']],
    [{ provider: 'acme', family: 'messages' }, []],
    [{ input: 'image' }, ['acme/picture']],
    [{ output: 'text' }, ['acme/large', 'gift', 'later']],
    [{ minContext: 200_000 }, ['acme/large']],
    [{ maxInputPrice: parseUsd('4') }, ['acme/large', 'gift']],
    [{ maxInputPrice: parseUsd('4'), maxOutputPrice: parseUsd('25') }, ['gift']],
    [{ capability: 'reasoning' }, ['acme/large']],
    [{ capability: 'caching' }, ['acme/large']],
    [{ capability: 'service-tiers', provider: 'acme' }, []],
    [{ capability: 'free' }, ['gift']],
    [{ available: true }, ['acme/large', 'acme/picture', 'gift']],
    [{ available: false }, ['acme/large', 'later']],
  ] as const)('%o leaves %o', (filters, expected) => {
    // The host has no address for messages, so its offer of the large one cannot be called.
    expect(found(filters)).toEqual(expected);
  });
});

describe('the order of the catalogue', () => {
  const order = (...how: [Parameters<typeof sortModels>[1], boolean?]) =>
    sortModels(models, ...how).map(({ id }) => id);

  it('is what can be called, the newest on top, without a wish', () => {
    expect(order(null)).toEqual(['acme/large', 'acme/picture', 'gift', 'later']);
  });

  it('has what is simulated at its end, and faults last of all, whether it can be called or not', () => {
    const [large, ...others] = models;
    if (!large) throw new Error('the catalogue has models');
    const offers = large.offers.map((offer) => ({ ...offer, provider: 'sandbox' }));
    const simulated = { ...large, id: 'sandbox/mini', offers };
    const fault = { ...simulated, id: 'sandbox/fault-cut' };
    const ids = sortModels([fault, simulated, ...others], null).map(({ id }) => id);
    expect(ids.slice(-2)).toEqual(['sandbox/mini', 'sandbox/fault-cut']);
  });

  it('puts what has no figure last, either way round', () => {
    expect(order('input')).toEqual(['gift', 'acme/large', 'acme/picture', 'later']);
    expect(order('input', true)).toEqual(['acme/large', 'gift', 'acme/picture', 'later']);
    expect(order('released')).toEqual(['acme/picture', 'acme/large', 'later', 'gift']);
  });

  it('compares names without case', () => {
    expect(order('name')).toEqual(['gift', 'acme/large', 'later', 'acme/picture']);
  });
});

describe('the listed price', () => {
  it('has every class of every tier, and pieces by the one', () => {
    const [large, picture] = models;
    expect(large?.offers[1]?.price?.bands).toEqual([
      {
        tier: 'default',
        aboveInputTokens: null,
        rates: [
          { class: 'input', variant: null, unit: 'million tokens', usd: '4' },
          { class: 'output', variant: null, unit: 'million tokens', usd: '30' },
        ],
      },
      {
        tier: 'flex',
        aboveInputTokens: null,
        rates: [
          { class: 'input', variant: null, unit: 'million tokens', usd: '2' },
          { class: 'output', variant: null, unit: 'million tokens', usd: '15' },
        ],
      },
    ]);
    expect(picture?.offers[0]?.price?.bands[0]?.rates).toEqual([
      { class: 'image', variant: null, unit: 'one', usd: '0.04' },
      { class: 'image', variant: 'high', unit: 'one', usd: '0.2' },
    ]);
    expect(large?.offers[0]?.price?.effectiveAt).toBe('2026-07-02T00:00:00.000Z');
  });
});
