import { describe, expect, it } from 'vitest';
import type { ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import type { FamilyId } from '#lib/core/families/ids';
import { estimate } from '#lib/gateway/admission/pure/estimate';
import { explain } from '#lib/gateway/routing/explain';
import { type PlanInput, plan } from '#lib/gateway/routing/pure/plan';
import { makeProvider } from '#tests/unit/families/make';
import { askOf, catalogueOf, inputOf, keeper, modelOf, offerAt, snapshotOf } from '#tests/unit/routing/make';

/** An offer that speaks these protocols. */
function speaking(provider: string, families: readonly FamilyId[], model = 'm'): OfferFacts {
  const url = new URL(`https://${provider}.test/v1`);
  return offerAt(provider, model, {
    families: new Set(families),
    provider: makeProvider({
      id: provider,
      families: new Map(families.map((family) => [family, { state: 'ready', url }] as const)),
    }),
  });
}

const targetsOf = (input: PlanInput) =>
  plan(input).targets.map(({ offer, family }) => `${offer.provider.id} ${offer.modelId} ${family}`);

function twoModels(): readonly ModelFacts[] {
  return [
    modelOf('m', [speaking('a', ['messages']), speaking('b', ['chat']), speaking('c', ['images'])]),
    modelOf('n', [speaking('d', ['responses'], 'n'), speaking('e', ['chat'], 'n')]),
  ];
}

describe('offers of other protocols (contract: translation/when, translation/policy)', () => {
  const catalogue = catalogueOf(...twoModels());
  const chain = { fallbackModels: ['n'] };

  it('stand behind the offers of the same model that speak the client’s protocol', () => {
    expect(targetsOf(inputOf({ catalogue, policy: chain }))).toEqual([
      'b m chat',
      'a m messages',
      'e n chat',
      'd n responses',
    ]);
  });

  it('stand behind those of the whole chain if they are a fallback', () => {
    const policy = { ...chain, translate: 'fallback' } as const;
    expect(targetsOf(inputOf({ catalogue, policy }))).toEqual([
      'b m chat',
      'e n chat',
      'a m messages',
      'd n responses',
    ]);
  });

  it('are left out if the policy or the request says never', () => {
    const policy = { ...chain, translate: 'never' } as const;
    const native = ['b m chat', 'e n chat'];
    expect(targetsOf(inputOf({ catalogue, policy }))).toEqual(native);
    expect(targetsOf(inputOf({ catalogue, policy: chain, noTranslation: true }))).toEqual(native);
  });

  it('are called in the protocol of the model’s maker if they speak it', () => {
    const all: FamilyId[] = ['responses', 'messages', 'generate-content'];
    const spoken = (slug: string) => {
      const models = catalogueOf(modelOf(slug, [speaking('a', all, slug)]));
      return targetsOf(inputOf({ catalogue: models, ask: { ...askOf(), model: slug } }))[0];
    };
    expect(spoken('anthropic/claude')).toBe('a anthropic/claude messages');
    expect(spoken('google/gemini')).toBe('a google/gemini generate-content');
    expect(spoken('openai/gpt')).toBe('a openai/gpt responses');
    expect(spoken('other/model')).toBe('a other/model responses');
  });

  it('are not candidates for a call that is bound to its provider', () => {
    expect(targetsOf(inputOf({ catalogue, pinned: keeper('a') }))).toEqual([]);
  });
});

describe('the budget of a translated request (contract: translation/budget)', () => {
  const model = modelOf('m', [speaking('a', ['messages'])], { maxOutputTokens: 9_000 });
  const catalogue = catalogueOf(model);
  const budgetOf = (input: PlanInput) => plan(input).targets[0]?.injectBudget;

  it('is the request’s, else the key’s maximum, else the model’s', () => {
    const snapshot = snapshotOf({}, { maxOutputTokens: 700 });
    expect(budgetOf(inputOf({ catalogue, ask: askOf({ max_tokens: 50 }), snapshot }))).toBe(50);
    expect(budgetOf(inputOf({ catalogue, snapshot }))).toBe(700);
    expect(budgetOf(inputOf({ catalogue }))).toBe(9_000);
  });

  it('is covered by the hold', () => {
    const { targets } = plan(inputOf({ catalogue }));
    const terms = { keyMaximum: null, strict: false, previousTokens: 0 };
    expect(estimate(askOf(), targets, terms).outputTokens).toBe(9_000);
  });
});

describe('a request that cannot be written for an offer (contract: translation/refused)', () => {
  const why = { field: 'n', message: 'Field "n" must be 1.' };
  const untranslatable = () => why;

  it('is invalid if the model is only called by translation, and the message names the field', () => {
    const catalogue = catalogueOf(modelOf('m', [speaking('a', ['messages'])]));
    expect(plan(inputOf({ catalogue, untranslatable })).failure).toEqual({
      code: 'invalid_body',
      message: 'Model m is called by translation. Field "n" must be 1.',
    });
  });

  it('is not allowed if an offer that speaks its protocol is not available', () => {
    const catalogue = catalogueOf(modelOf('m', [speaking('a', ['messages']), speaking('b', ['chat'])]));
    const policy = { ignore: ['b'] };
    expect(plan(inputOf({ catalogue, policy, untranslatable })).failure).toMatchObject({
      code: 'model_not_allowed',
      message: expect.stringContaining('Field "n" must be 1.'),
    });
  });

  it('is only read for an offer if nothing before it speaks the client’s protocol', () => {
    const catalogue = catalogueOf(modelOf('m', [speaking('a', ['messages']), speaking('b', ['chat'])]));
    let reads = 0;
    const counting = () => {
      reads += 1;
      return null;
    };
    expect(plan(inputOf({ catalogue, untranslatable: counting })).targets).toHaveLength(2);
    expect(reads).toBe(0);
  });

  it('leaves the offer out of an explanation, with the reason', () => {
    const catalogue = catalogueOf(modelOf('m', [speaking('a', ['messages']), speaking('b', ['chat'])]));
    const { candidates, skipped } = explain(inputOf({ catalogue, untranslatable }));
    expect(candidates.map(({ target }) => target.offer.provider.id)).toEqual(['b']);
    expect(skipped).toEqual([
      { provider: 'a', model: 'm', why: 'cannot be translated: Field "n" must be 1.' },
    ]);
  });
});
