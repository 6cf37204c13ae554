import { describe, expect, it } from 'vitest';
import type { Policy } from '#lib/core/facts/snapshot';
import { policyShape } from '#lib/core/schemas/policy';
import { mergePolicy, rulesFor } from '#lib/gateway/routing/pure/rules';

describe('a policy of one model (contract: routing/policy)', () => {
  const standard: Policy = { sort: 'price', ignore: ['a'], timeouts: { connectMs: 100, idleMs: 200 } };

  it('a model’s policy replaces whole keys of the default and keeps the others', () => {
    expect(mergePolicy(standard, { ignore: [], timeouts: { connectMs: 300 } })).toEqual({
      sort: 'price',
      ignore: [],
      timeouts: { connectMs: 300 },
    });
  });

  it('a model’s policy applies only to that model', () => {
    const policies = new Map<string, Policy>([
      ['', standard],
      ['m', { sort: 'latency' }],
    ]);
    expect(rulesFor(policies, 'm')).toMatchObject({ sort: 'latency', ignore: new Set(['a']) });
    expect(rulesFor(policies, 'n')).toMatchObject({ sort: 'price', ignore: new Set(['a']) });
    expect(rulesFor(new Map(), 'm')).toMatchObject({ sort: 'order', ignore: null, maxAttempts: 4 });
    expect(rulesFor(policies, 'm')).toBe(rulesFor(policies, 'm'));
  });
});

describe('a policy is refused', () => {
  it.each([
    ['an unknown key', { sorts: 'price' }],
    ['an unknown key inside another', { timeouts: { readMs: 100 } }],
    ['a provider in both order and weights', { order: ['a'], weights: { a: 1 } }],
    ['no attempt', { maxAttempts: 0 }],
    ['a fifth attempt', { maxAttempts: 5 }],
    ['half an attempt', { maxAttempts: 1.5 }],
    ['a weight of 0', { weights: { a: 0 } }],
    ['a negative weight', { weights: { a: -1 } }],
    ['an endless weight', { weights: { a: Number.POSITIVE_INFINITY } }],
    ['a time limit that no answer can meet', { timeouts: { firstByteMs: 1 } }],
    ['a connection that may take minutes', { timeouts: { connectMs: 60_001 } }],
    ['a price that is a number', { maxPrice: { input: 5 } }],
    ['a negative price', { maxPrice: { output: '-1' } }],
    ['a hold that is a number', { maxBatchHold: 50 }],
    ['a negative hold', { maxBatchHold: '-1' }],
  ])('for %s', (_, policy) => {
    expect(policyShape.safeParse(policy).success).toBe(false);
  });

  it('an empty policy and one with every key are accepted', () => {
    const all = {
      sort: 'throughput',
      order: ['a'],
      only: ['a', 'b'],
      ignore: ['c'],
      weights: { b: 0.5 },
      fallbackModels: ['v/m'],
      maxPrice: { input: '5', output: '0.25' },
      maxBatchHold: '50',
      maxAttempts: 1,
      timeouts: {
        connectMs: 10,
        firstByteMs: 10,
        firstByteWholeMs: 10,
        firstWordMs: 10,
        idleMs: 10,
        totalMs: 10,
        holdMs: 10,
      },
    };
    expect(policyShape.safeParse(all).success).toBe(true);
    expect(policyShape.safeParse({}).success).toBe(true);
  });
});
