import { describe, expect, it } from 'vitest';
import { draftOf, inputOf, markIn, unlisted } from '#lib/console/gateway/found-model';
import type { FoundModel } from '#lib/control/operations/provider/discover';

const known: FoundModel = {
  upstreamModel: 'large-2',
  slug: 'acme/large',
  offered: false,
  known: true,
  name: 'Acme Large',
  kind: 'text',
  families: ['chat'],
  contextTokens: 4000,
  maxOutputTokens: 400,
  input: ['text', 'image'],
  abilities: {},
  price: { input: '2', cachedInput: '0.2', output: '8' },
  priceOf: 'acme',
};
const fresh: FoundModel = { ...known, slug: 'lab/large-2', known: false, price: null, priceOf: null };

describe('the offer of a selected model', () => {
  it('takes a price of the catalogue whole, and no facts of a model that exists', () => {
    expect(inputOf(known, draftOf(known, false))).toEqual({
      upstreamModel: 'large-2',
      slug: 'acme/large',
      families: ['chat'],
      price: { input: '2', cachedInput: '0.2', output: '8' },
    });
  });

  it('takes only what was typed once the price was changed', () => {
    const draft = { ...draftOf(known, false), output: '9' };
    expect(inputOf(known, draft)).toMatchObject({ price: { input: '2', output: '9' } });
    expect(inputOf(known, draft)).not.toHaveProperty('price.cachedInput');
  });

  it('has the facts of a new model, also of one under another slug', () => {
    const facts = { name: 'Acme Large', contextTokens: 4000, maxOutputTokens: 400, input: ['text', 'image'] };
    expect(inputOf(fresh, draftOf(fresh, true))).toMatchObject({ ...facts, free: true });
    expect(inputOf(known, { ...draftOf(known, true), slug: 'lab/own' })).toMatchObject(facts);
    expect(inputOf(fresh, { ...draftOf(fresh, true), context: 'many' })).toMatchObject({
      contextTokens: 'many',
    });
  });

  it('is free of charge, or has a price, which may be empty so that it is asked for', () => {
    expect(inputOf(fresh, draftOf(fresh, true))).not.toHaveProperty('price');
    expect(inputOf(fresh, draftOf(fresh, false))).toMatchObject({ price: {} });
    expect(inputOf(fresh, draftOf(fresh, false))).not.toHaveProperty('free');
  });

  it('may be of a model that the list does not have', () => {
    const own = unlisted('lab', 'my model (v2)');
    expect(own.slug).toBe('lab/my-model-v2-');
    expect(inputOf(own, draftOf(own, true))).toEqual({
      upstreamModel: 'my model (v2)',
      slug: own.slug,
      free: true,
    });
  });

  it('is marked in the list once it is made', () => {
    const mark = markIn(['acme/large'], ['large-2']);
    expect(mark(known)).toMatchObject({ offered: true, slug: 'acme/large' });
    expect(mark({ ...known, upstreamModel: 'other' })).toMatchObject({ offered: false });
  });
});
