import { describe, expect, it } from 'vitest';
import { type Abilities, lackedBy } from '#lib/core/facts/abilities';
import type { OfferFacts } from '#lib/core/facts/snapshot';
import { explain } from '#lib/gateway/routing/explain';
import { plan } from '#lib/gateway/routing/pure/plan';
import { makeProvider } from '#tests/unit/families/make';
import { askOf, catalogueOf, inputOf, keeper, modelOf, offerAt } from '#tests/unit/routing/make';

const can = (abilities: Abilities): Partial<OfferFacts> => ({ abilities, lacks: lackedBy(abilities) });
const withTools = askOf({ tools: [{ type: 'function', function: { name: 'f' } }] });
const providersOf = (input: Parameters<typeof plan>[0]) =>
  plan(input).targets.map(({ offer }) => offer.provider.id);

describe('offers that cannot do what the request asks (contract: routing/abilities)', () => {
  const catalogue = catalogueOf(
    modelOf('m', [
      offerAt('a', 'm', can({ tools: false })),
      offerAt('b'),
      offerAt('c', 'm', can({ tools: true })),
    ]),
  );

  it('are passed over; what is not known counts as yes', () => {
    expect(providersOf(inputOf({ catalogue, ask: withTools }))).toEqual(['b', 'c']);
    expect(providersOf(inputOf({ catalogue }))).toEqual(['a', 'b', 'c']);
  });

  it('are named by route explain', () => {
    const { skipped } = explain(inputOf({ catalogue, ask: withTools }));
    expect(skipped).toEqual([{ provider: 'a', model: 'm', why: 'cannot do what the request asks: tools' }]);
  });

  it('do not keep a fallback model from serving, whose offers are judged likewise', () => {
    const some = catalogueOf(
      modelOf('m', [offerAt('a', 'm', can({ tools: false }))]),
      modelOf('n', [offerAt('b', 'n', can({ tools: false })), offerAt('c', 'n')]),
    );
    const input = inputOf({ catalogue: some, ask: withTools, policy: { fallbackModels: ['n'] } });
    expect(providersOf(input)).toEqual(['c']);
  });

  it('are the reason of the refusal, which names what they lack, if no other offer is left', () => {
    const none = catalogueOf(
      modelOf('m', [offerAt('a', 'm', can({ tools: false })), offerAt('b', 'm', { price: null })]),
    );
    expect(plan(inputOf({ catalogue: none, ask: withTools }))).toMatchObject({
      targets: [],
      unable: true,
      failure: {
        code: 'model_not_allowed',
        message:
          'Model m does not support tools here (a); leave that out, or choose another model from GET /v1/models.',
      },
    });
    // That an offer lacks something is not the reason if it could not be called anyway.
    const unpriced = catalogueOf(
      modelOf('m', [offerAt('a', 'm', { ...can({ tools: false }), price: null })]),
    );
    expect(plan(inputOf({ catalogue: unpriced, ask: withTools })).unable).toBe(false);
  });

  it('keep what they store: a call that is bound to one of them is refused too', () => {
    expect(plan(inputOf({ catalogue, ask: withTools, pinned: keeper('a') })).failure?.message).toContain(
      'does not support tools here (a)',
    );
  });

  it('are judged by the client’s request where it is translated for them', () => {
    const speaking = (id: string, part: Partial<OfferFacts>) =>
      offerAt(id, 'm', {
        families: new Set(['messages']),
        provider: makeProvider({
          id,
          families: new Map([['messages', { state: 'ready', url: new URL(`https://${id}.test/v1`) }]]),
        }),
        ...part,
      });
    const translated = catalogueOf(
      modelOf('m', [
        speaking('a', can({ tools: false })),
        speaking('b', { unserved: new Set(['messages.create']) }),
        speaking('c', { unserved: new Set(['messages.count_tokens', 'chat.create']) }),
      ]),
    );
    const { targets } = plan(inputOf({ catalogue: translated, ask: withTools }));
    expect(targets.map(({ offer, family }) => [offer.provider.id, family])).toEqual([['c', 'messages']]);
    expect(explain(inputOf({ catalogue: translated, ask: withTools })).skipped).toContainEqual({
      provider: 'b',
      model: 'm',
      why: 'does not serve messages.create',
    });
  });

  it('are passed over for an operation that they do not serve', () => {
    const some = catalogueOf(modelOf('m', [offerAt('a', 'm', { unserved: new Set(['chat.create']) })]));
    expect(plan(inputOf({ catalogue: some }))).toMatchObject({
      unable: true,
      failure: { message: expect.stringContaining('does not support the operation chat.create here (a)') },
    });
  });
});
