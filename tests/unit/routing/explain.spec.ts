import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explain } from '#lib/gateway/routing/explain';
import { plan } from '#lib/gateway/routing/pure/plan';
import {
  catalogueOf,
  healthOf,
  inputOf,
  modelOf,
  nowMs,
  offerAt,
  snapshotOf,
  usd,
} from '#tests/unit/routing/make';

describe('explaining a route (contract: routing/explain)', () => {
  it('an explanation says for every offer that is not tried why it is not', () => {
    const keyless = offerAt('keyless');
    const catalogue = catalogueOf(
      modelOf('m', [
        offerAt('a'),
        offerAt('ignored'),
        offerAt('expensive', 'm', { price: { id: 'p', effectiveAtMs: 0, price: usd('7', '4') } }),
        offerAt('unpriced', 'm', { price: null }),
        { ...keyless, provider: { ...keyless.provider, credentials: [], credentialEnv: 'KEYLESS' } },
        offerAt('other', 'm', { families: new Set(['messages']) }),
        offerAt('open'),
        offerAt('late'),
      ]),
      modelOf('small', [offerAt('a', 'small')], { contextTokens: 5 }),
      modelOf('secret', [offerAt('a', 'secret')]),
    );
    const policy = {
      ignore: ['ignored'],
      maxPrice: { input: '5' },
      maxAttempts: 1,
      fallbackModels: ['small', 'secret'],
    };
    const snapshot = snapshotOf({ '': policy }, { models: new Set(['m', 'small']) });
    const health = { 'm@open': healthOf({ openUntilMs: nowMs + 5_000 }) };
    const found = explain({ ...inputOf({ catalogue, health }), snapshot });
    expect(found.candidates.map(({ target }) => target.offer.id)).toEqual(['m@a']);
    const why = new Map(found.skipped.map((one) => [`${one.provider} ${one.model}`, one.why]));
    expect(Object.fromEntries(why)).toEqual({
      'ignored m': "in the policy's ignore",
      'expensive m': 'too expensive: input costs $7 per million tokens, maxPrice is $5',
      'unpriced m': 'has no price',
      'keyless m': 'has no credential (KEYLESS is not set)',
      'other m': 'does not support the chat family',
      'late m': 'after the one attempt that a call may make',
      'open m': `set aside by the breaker until ${new Date(nowMs + 5_000).toISOString()}, so after the one attempt that a call may make`,
      '* small': 'too small for the request: its context is 5 tokens',
      '* secret': 'not in the scope of the key',
    });
  });

  it('an explanation shows until when a candidate is set aside', () => {
    const health = { 'm@a': healthOf({ openUntilMs: nowMs + 1 }) };
    expect(explain(inputOf({ health })).candidates.map((one) => one.openUntilMs)).toEqual([
      null,
      null,
      nowMs + 1,
    ]);
  });

  it('an explanation has the same targets, limits and failure as the plan', () => {
    const provider = fc.constantFrom('a', 'b', 'c', 'z');
    const policy = fc.record(
      {
        order: fc.uniqueArray(provider),
        only: fc.uniqueArray(provider),
        ignore: fc.uniqueArray(provider),
        sort: fc.constantFrom('order', 'price', 'latency', 'throughput'),
        fallbackModels: fc.subarray(['n', 'unknown']),
        maxAttempts: fc.integer({ min: 1, max: 4 }),
      },
      { requiredKeys: [] },
    );
    const catalogue = catalogueOf(
      modelOf('m', [offerAt('a'), offerAt('b'), offerAt('c')]),
      modelOf('n', [offerAt('c', 'n'), offerAt('a', 'n')]),
    );
    fc.assert(
      fc.property(policy, fc.boolean(), fc.boolean(), (wanted, open, noFallback) => {
        const health = open ? { 'm@b': healthOf({ openUntilMs: nowMs + 1 }) } : {};
        const input = inputOf({ policy: wanted, catalogue, health, noFallback });
        const planned = plan(input);
        const told = explain(input);
        expect(told.candidates.map((one) => one.target)).toEqual(planned.targets);
        expect(told.timeLimits).toEqual(planned.timeLimits);
        expect(told.failure).toEqual(planned.failure);
        const everyOffer = told.candidates.length + told.skipped.filter((one) => one.provider !== '*').length;
        expect(everyOffer).toBe(wanted.fallbackModels?.includes('n') ? 5 : 3);
      }),
    );
  });
});
