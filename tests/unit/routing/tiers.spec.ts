import { describe, expect, it } from 'vitest';
import type { OfferFacts, Policy } from '#lib/core/facts/snapshot';
import type { Price } from '#lib/core/metering/price-list';
import { parseUsd } from '#lib/core/money';
import { explain } from '#lib/gateway/routing/explain';
import { plan } from '#lib/gateway/routing/pure/plan';
import { askChat } from '#tests/unit/families/make';
import { catalogueOf, inputOf, modelOf, offerAt, snapshotOf, usd } from '#tests/unit/routing/make';

/** An offer whose price has these service tiers, each at $6 and $24 a million tokens. */
function tiered(provider: string, tiers: readonly string[], model = 'm'): OfferFacts {
  const rates = { input: parseUsd('6'), output: parseUsd('24') };
  const serviceTiers = Object.fromEntries(tiers.map((name) => [name, rates]));
  const price: Price = { ...usd('1', '4'), serviceTiers };
  return offerAt(provider, model, { price: { id: `price at ${provider}`, effectiveAtMs: 0, price } });
}

function inputFor(
  asked: object,
  offers: readonly OfferFacts[],
  policy: Policy = {},
  fallbacks: OfferFacts[] = [],
) {
  const others = fallbacks.map((offer) => modelOf(offer.modelId, [offer]));
  const ask = askChat({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...asked });
  return {
    ...inputOf({ catalogue: catalogueOf(modelOf('m', offers), ...others) }),
    ask,
    snapshot: snapshotOf({ '': policy }),
  };
}

function idsFor(...args: Parameters<typeof inputFor>): string[] {
  return plan(inputFor(...args)).targets.map((target) => target.offer.id);
}

const offers = [tiered('plain', []), tiered('quick', ['priority']), tiered('both', ['flex', 'priority'])];

describe('a request that asks for a service tier (contract: money/tier-asked)', () => {
  it.each([null, 'auto', 'default', 'standard', 'standard_only'])('goes anywhere for %s', (tier) => {
    expect(idsFor({ service_tier: tier }, offers)).toEqual(['m@plain', 'm@quick', 'm@both']);
  });

  it('a call at a service tier goes only to offers that price it', () => {
    expect(idsFor({ service_tier: 'priority' }, offers)).toEqual(['m@quick', 'm@both']);
    expect(idsFor({ service_tier: 'flex' }, offers)).toEqual(['m@both']);
  });

  it('a call at a service tier falls back only to models that price it', () => {
    const policy = { fallbackModels: ['slow', 'other'] };
    const fallbacks = [tiered('x', [], 'slow'), tiered('y', ['priority'], 'other')];
    expect(idsFor({ service_tier: 'priority' }, offers, policy, fallbacks)).toEqual([
      'm@quick',
      'm@both',
      'other@y',
    ]);
  });

  it('a service tier that no offer prices is refused, and the message lists the tiers', () => {
    const { targets, failure } = plan(inputFor({ service_tier: 'scale' }, offers));
    expect(targets).toEqual([]);
    expect(failure).toEqual({
      code: 'model_not_allowed',
      message: 'Model m has no service tier "scale" here; ask for one of default, flex, priority.',
    });
  });

  it('if there are no tiers, the refusal says to leave the tier out', () => {
    const { failure } = plan(inputFor({ speed: 'fast' }, [tiered('plain', [])]));
    expect(failure?.code).toBe('model_not_allowed');
    expect(failure?.message).toContain('has no service tier "fast" here; leave service_tier and speed out');
  });

  it('the refusal of a tier does not repeat the client’s bytes', () => {
    const { failure } = plan(inputFor({ service_tier: `<b>\n${'x'.repeat(1_000)}` }, offers));
    expect(failure?.message).toContain(`"?b??${'x'.repeat(36)}"`);
  });

  it('offers are compared with maxPrice and sorted by the prices of the tier', () => {
    expect(idsFor({ service_tier: 'priority' }, offers, { maxPrice: { input: '5' } })).toEqual([]);
    expect(idsFor({}, offers, { maxPrice: { input: '5' } })).toHaveLength(3);
    const cheap = tiered('cheap', []);
    const price = { ...usd('2', '8'), serviceTiers: { priority: { input: 1n, output: 1n } } };
    const own = { ...cheap, price: { id: 'p', effectiveAtMs: 0, price } };
    const sorted = idsFor({ service_tier: 'priority' }, [offers[1] ?? cheap, own], { sort: 'price' });
    expect(sorted).toEqual(['m@cheap', 'm@quick']);
  });

  it('a missing service tier is explained for each offer', () => {
    const { skipped } = explain(inputFor({ service_tier: 'flex' }, offers));
    expect(skipped.map(({ provider, why }) => [provider, why])).toEqual([
      ['plain', 'has no price for service tier "flex" (it has default)'],
      ['quick', 'has no price for service tier "flex" (it has default, priority)'],
    ]);
  });
});
