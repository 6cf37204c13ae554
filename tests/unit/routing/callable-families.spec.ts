import { describe, expect, it } from 'vitest';
import { callableFamilies } from '#lib/gateway/routing/pure/exclude';
import { modelOf, offerAt } from '#tests/unit/routing/make';

const text = ['chat', 'responses', 'messages', 'generate-content'];
const chatOnly = offerAt('a', 'm', { families: new Set(['chat']) });
const callable = (translates: boolean, offer = chatOnly, part = {}) =>
  [...callableFamilies({ ...modelOf('m', [offer]), ...part }, translates, 1)].sort();

describe('the protocols in which a model can be called (contract: families/model-lists)', () => {
  it('are those that its offers speak, and with translation all that answer with text', () => {
    expect(callable(false)).toEqual(['chat']);
    expect(callable(true)).toEqual([...text].sort());
  });

  it('are not more by translation if the model does not answer with text', () => {
    expect(callable(true, chatOnly, { output: ['image'] })).toEqual(['chat']);
  });

  it('are none if the offer is retired, or has no credential or price', () => {
    expect(callable(true, { ...chatOnly, servedUntilMs: 1 })).toEqual([]);
    expect(callable(true, { ...chatOnly, price: null })).toEqual([]);
    const provider = { ...chatOnly.provider, credentials: [] };
    expect(callable(true, { ...chatOnly, provider })).toEqual([]);
  });
});
