import { describe, expect, it } from 'vitest';
import type { Policy } from '#lib/core/facts/snapshot';
import { type PlanInput, plan } from '#lib/gateway/routing/pure/plan';
import { limitsOfModel } from '#lib/gateway/routing/pure/time-limits';
import {
  askOf,
  catalogueOf,
  healthOf,
  inputOf,
  keeper,
  modelOf,
  nowMs,
  offerAt,
  seen,
  snapshotOf,
  unseen,
  usd,
} from '#tests/unit/routing/make';

function order(input: PlanInput): string[] {
  return plan(input).targets.map((target) => target.offer.id);
}

function priced(...prices: readonly [provider: string, input: string, output: string][]) {
  return catalogueOf(
    modelOf(
      'm',
      prices.map(([id, input, output]) =>
        offerAt(id, 'm', { price: { id, effectiveAtMs: 0, price: usd(input, output) } }),
      ),
    ),
  );
}

describe('without a policy (contract: routing/plan)', () => {
  it('a call goes to the offers of its model in catalogue order', () => {
    expect(order(inputOf())).toEqual(['m@a', 'm@b', 'm@c']);
  });

  it('at most four targets are tried', () => {
    const offers = ['a', 'b', 'c', 'd', 'e'].map((id) => offerAt(id));
    expect(order(inputOf({ catalogue: catalogueOf(modelOf('m', offers)) }))).toHaveLength(4);
  });

  it.each([
    ['without a price', { price: null }, 'model_not_allowed', 'has no price'],
    [
      'of another family',
      { families: new Set(['messages'] as const) },
      'missing_upstream_base_url',
      'does not support the chat family',
    ],
  ])('an offer %s is never routed to', (_, part, code, why) => {
    const catalogue = catalogueOf(modelOf('m', [offerAt('a', 'm', part)]));
    const { targets, failure } = plan(inputOf({ catalogue }));
    expect(targets).toEqual([]);
    expect(failure).toMatchObject({ code, message: expect.stringContaining(why) });
  });

  it('an offer without a price next to one without its credential is a fault of the operator’s configuration', () => {
    const bare = offerAt('b');
    const unkeyed = { ...bare, provider: { ...bare.provider, credentials: [], credentialEnv: 'B_KEY' } };
    const catalogue = catalogueOf(modelOf('m', [offerAt('a', 'm', { price: null }), unkeyed]));
    expect(plan(inputOf({ catalogue })).failure).toMatchObject({ code: 'missing_upstream_base_url' });
  });

  it('an offer without its credential is left out, and the failure names the variable', () => {
    const bare = offerAt('a');
    const provider = { ...bare.provider, credentials: [], credentialEnv: 'A_KEY' };
    const { failure } = plan(inputOf({ catalogue: catalogueOf(modelOf('m', [{ ...bare, provider }])) }));
    expect(failure).toMatchObject({
      code: 'missing_upstream_base_url',
      message: expect.stringContaining('A_KEY'),
    });
  });

  it('an unusable address is its own failure', () => {
    const bare = offerAt('a');
    const families = new Map([['chat' as const, { state: 'invalid' as const, why: 'A_URL is not a URL' }]]);
    const catalogue = catalogueOf(modelOf('m', [{ ...bare, provider: { ...bare.provider, families } }]));
    expect(plan(inputOf({ catalogue })).failure).toMatchObject({
      code: 'invalid_upstream_base_url',
      message: expect.stringContaining('A_URL is not a URL'),
    });
  });
});

describe('step 1 leaves out (contract: routing/available-offers, routing/max-price)', () => {
  it.each<[string, Policy, string[]]>([
    ['all but `only`', { only: ['c', 'b'] }, ['m@b', 'm@c']],
    ['what is in `ignore`', { ignore: ['a'] }, ['m@b', 'm@c']],
    ['nothing for empty lists', { only: [], ignore: [], weights: {} }, ['m@a', 'm@b', 'm@c']],
  ])('%s', (_, policy, expected) => {
    expect(order(inputOf({ policy }))).toEqual(expected);
  });

  it('offers that cost more than `maxPrice` for input or output are left out, those that cost exactly that are kept', () => {
    const catalogue = priced(['a', '5', '20'], ['b', '5.000000001', '1'], ['c', '1', '20.5']);
    expect(order(inputOf({ catalogue, policy: { maxPrice: { input: '5', output: '20' } } }))).toEqual([
      'm@a',
    ]);
  });

  it('offers are left out if a context tier makes them more expensive than `maxPrice` for this request', () => {
    const price = { ...usd('1', '4'), tiers: [{ aboveInputTokens: 100, rates: { input: 9_000_000_000n } }] };
    const catalogue = catalogueOf(
      modelOf('m', [offerAt('a', 'm', { price: { id: 'p', effectiveAtMs: 0, price } })]),
    );
    const policy = { maxPrice: { input: '5' } };
    const long = askOf({ messages: [{ role: 'user', content: 'word '.repeat(200) }] });
    expect(order(inputOf({ catalogue, policy }))).toEqual(['m@a']);
    expect(plan(inputOf({ catalogue, policy, ask: long })).failure?.message).toContain('too expensive');
  });
});

describe('steps 2 and 3 (contract: routing/sort)', () => {
  it('the providers of `order` come first; the rest follow in catalogue order', () => {
    expect(order(inputOf({ policy: { order: ['c', 'nobody'] } }))).toEqual(['m@c', 'm@a', 'm@b']);
  });

  it('sort by price: what this call would cost there', () => {
    const catalogue = priced(['a', '3', '1'], ['b', '1', '3'], ['c', '0.5', '9']);
    const long = askOf({ messages: [{ role: 'user', content: 'word '.repeat(20_000) }], max_tokens: 10 });
    const policy: Policy = { sort: 'price' };
    expect(order(inputOf({ catalogue, policy }))).toEqual(['m@a', 'm@b', 'm@c']);
    expect(order(inputOf({ catalogue, policy, ask: long }))).toEqual(['m@c', 'm@b', 'm@a']);
  });

  it('sort by price counts the share that an offer was seen to read from its cache', () => {
    const base = usd('2', '4', { cachedInput: 200_000_000n });
    const cheap = usd('1.5', '4');
    const catalogue = catalogueOf(
      modelOf('m', [
        offerAt('plain', 'm', { price: { id: '1', effectiveAtMs: 0, price: cheap } }),
        offerAt('caching', 'm', { price: { id: '2', effectiveAtMs: 0, price: base } }),
      ]),
    );
    const policy: Policy = { sort: 'price' };
    expect(order(inputOf({ catalogue, policy }))).toEqual(['m@plain', 'm@caching']);
    const health = { 'm@caching': healthOf({ cachedShare: 0.5 }) };
    expect(order(inputOf({ catalogue, policy, health }))).toEqual(['m@caching', 'm@plain']);
  });

  it('sort by latency: the fastest first byte of streams for a stream, of whole answers for the others', () => {
    const health = {
      'm@a': healthOf({ streamFirstByteMs: seen(300), wholeMs: seen(100) }),
      'm@b': healthOf({ streamFirstByteMs: seen(200), wholeMs: seen(900) }),
      'm@c': healthOf({ streamFirstByteMs: seen(100), wholeMs: seen(500) }),
    };
    const policy: Policy = { sort: 'latency' };
    expect(order(inputOf({ policy, health, ask: askOf({ stream: true }) }))).toEqual(['m@c', 'm@b', 'm@a']);
    expect(order(inputOf({ policy, health }))).toEqual(['m@a', 'm@c', 'm@b']);
  });

  it('sort by throughput: the most tokens a second first', () => {
    const health = {
      'm@a': healthOf({ tokensPerSecond: seen(30) }),
      'm@b': healthOf({ tokensPerSecond: seen(90) }),
      'm@c': healthOf({ tokensPerSecond: seen(60) }),
    };
    expect(order(inputOf({ policy: { sort: 'throughput' }, health }))).toEqual(['m@b', 'm@c', 'm@a']);
  });

  it.each(['latency', 'throughput'] as const)(
    'sort by %s measures an unseen offer by one call at a time, and one that fails not at all',
    (sort) => {
      const known = { wholeMs: seen(50), tokensPerSecond: seen(50) };
      const plans = (c: ReturnType<typeof healthOf>) =>
        order(
          inputOf({ policy: { sort }, health: { 'm@a': healthOf(known), 'm@b': healthOf(known), 'm@c': c } }),
        );
      expect(plans(healthOf())).toEqual(['m@c', 'm@a', 'm@b']);
      expect(plans(healthOf({ running: 1 }))).toEqual(['m@a', 'm@b', 'm@c']);
      expect(plans(healthOf({ failures: 1 }))).toEqual(['m@a', 'm@b', 'm@c']);
      const old = { wholeMs: seen(1, 301_000), tokensPerSecond: seen(1, 301_000) };
      expect(plans(healthOf(old))[0]).toBe('m@c');
      expect(plans(healthOf({ wholeMs: unseen, tokensPerSecond: unseen, openUntilMs: nowMs + 1 }))[2]).toBe(
        'm@c',
      );
    },
  );
});

describe('step 5: fallback models (contract: routing/fallback-models)', () => {
  const big = (id: string, part = {}) => modelOf(id, [offerAt('b', id), offerAt('a', id)], part);

  it('fallback models come after all offers of the model, by the same rules', () => {
    const catalogue = catalogueOf(modelOf('m', [offerAt('a')]), big('n'));
    const policy = { fallbackModels: ['n'], order: ['a'] };
    expect(order(inputOf({ catalogue, policy }))).toEqual(['m@a', 'n@a', 'n@b']);
    expect(order(inputOf({ catalogue, policy: { ...policy, ignore: ['b'] } }))).toEqual(['m@a', 'n@a']);
  });

  it('fallback models serve a call whose own model has no offer left', () => {
    const catalogue = catalogueOf(modelOf('m', []), big('n'));
    expect(order(inputOf({ catalogue, policy: { fallbackModels: ['n'] } }))).toEqual(['n@b', 'n@a']);
  });

  it.each<[string, ReturnType<typeof big> | null, object, ReadonlySet<string> | null]>([
    ['outside the scope of the key', big('n'), {}, new Set(['m'])],
    ['not in the catalogue', null, {}, null],
    ['without the family', modelOf('n', [offerAt('a', 'n', { families: new Set(['messages']) })]), {}, null],
    ['with too small a context', big('n', { contextTokens: 50 }), { max_tokens: 40 }, null],
    ['that makes too few tokens', big('n', { maxOutputTokens: 10 }), { max_tokens: 40 }, null],
    [
      'that reads no images, for an image by address',
      big('n'),
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] },
        ],
      },
      null,
    ],
    [
      'that reads no images, for an inline image',
      big('n'),
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(2_000)}` } },
            ],
          },
        ],
      },
      null,
    ],
    [
      'that reads no audio',
      big('n'),
      {
        messages: [
          { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
        ],
      },
      null,
    ],
  ])('are left out %s', (_, other, body, models) => {
    const catalogue = catalogueOf(modelOf('m', [offerAt('a')]), ...(other ? [other] : []));
    const snapshot = snapshotOf({ '': { fallbackModels: ['n'] } }, { models });
    expect(order(inputOf({ catalogue, snapshot, ask: askOf(body) }))).toEqual(['m@a']);
  });

  it('fallback models that read images accept them, and text about images needs no such model', () => {
    const snapshot = snapshotOf({ '': { fallbackModels: ['n'] } });
    const image = askOf({
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }],
    });
    const words = askOf({ messages: [{ role: 'user', content: 'What does "type": "image_url" mean?' }] });
    const both = (input: string[]) => catalogueOf(modelOf('m', [offerAt('a')]), big('n', { input }));
    expect(order(inputOf({ catalogue: both(['text', 'image']), snapshot, ask: image }))).toHaveLength(3);
    expect(order(inputOf({ catalogue: both(['text']), snapshot, ask: words }))).toHaveLength(3);
  });

  it('fallback models that make videos accept a picture that weighs more than their prompt may have', () => {
    const snapshot = snapshotOf({ '': { fallbackModels: ['n'] } });
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(2_000)}` } };
    const image = askOf({ messages: [{ role: 'user', content: [picture] }] });
    const both = (output: string[]) =>
      catalogueOf(
        modelOf('m', [offerAt('a')]),
        big('n', { input: ['text', 'image'], output, contextTokens: 1_024 }),
      );
    expect(order(inputOf({ catalogue: both(['video']), snapshot, ask: image }))).toHaveLength(3);
    expect(order(inputOf({ catalogue: both(['text']), snapshot, ask: image }))).toEqual(['m@a']);
  });
});

describe('steps 6 and 7', () => {
  it('an offer that the breaker set aside moves to the end, after fallback models too', () => {
    const catalogue = catalogueOf(
      modelOf('m', [offerAt('a'), offerAt('b')]),
      modelOf('n', [offerAt('a', 'n')]),
    );
    const health = { 'm@a': healthOf({ openUntilMs: nowMs + 1 }), 'm@b': healthOf({ openUntilMs: nowMs }) };
    const policy = { fallbackModels: ['n'], order: ['a'] };
    expect(order(inputOf({ catalogue, health, policy }))).toEqual(['m@b', 'n@a', 'm@a']);
  });

  it('offers that are all set aside are still tried, in their order', () => {
    const open = healthOf({ openUntilMs: nowMs + 1 });
    const health = { 'm@a': open, 'm@b': open, 'm@c': open };
    expect(order(inputOf({ health }))).toEqual(['m@a', 'm@b', 'm@c']);
  });

  it('`maxAttempts` cuts after the set-aside moved', () => {
    const health = { 'm@a': healthOf({ openUntilMs: nowMs + 1 }) };
    expect(order(inputOf({ health, policy: { maxAttempts: 2 } }))).toEqual(['m@b', 'm@c']);
  });

  it('a client that turns fallback off gets one target', () => {
    expect(order(inputOf({ noFallback: true }))).toEqual(['m@a']);
  });
});

describe('a call with a past (contract: routing/prompt-cache)', () => {
  it('a call that continues state stored at a provider has only that target, set aside or not, and no fallback', () => {
    const health = { 'm@b': healthOf({ openUntilMs: nowMs + 1 }) };
    const policy = { fallbackModels: ['n'], order: ['a'] };
    const catalogue = catalogueOf(
      modelOf('m', [offerAt('a'), offerAt('b')]),
      modelOf('n', [offerAt('b', 'n')]),
    );
    expect(order(inputOf({ pinned: keeper('b'), health, policy, catalogue }))).toEqual(['m@b']);
  });

  it('a call that continues stored state is refused if its model has no offer at that provider', () => {
    expect(plan(inputOf({ pinned: keeper('z') })).failure?.code).toBe('model_not_allowed');
    expect(plan(inputOf({ pinned: keeper('b'), policy: { ignore: ['b'] } })).failure?.code).toBe(
      'missing_upstream_base_url',
    );
  });

  it.each<[string, Policy, string[]]>([
    ['without a policy', {}, ['m@c', 'm@a', 'm@b']],
    ['before a sort', { sort: 'price' }, ['m@c', 'm@a', 'm@b']],
    ['behind what `order` names', { order: ['b'] }, ['m@b', 'm@c', 'm@a']],
    ['not where the policy leaves it out', { ignore: ['c'] }, ['m@a', 'm@b']],
  ])('whose prompt a provider has cached prefers it: %s', (_, policy, expected) => {
    expect(order(inputOf({ holder: keeper('c'), policy }))).toEqual(expected);
  });

  it('the provider that holds the prompt cache is not preferred while it is set aside', () => {
    const health = { 'm@c': healthOf({ openUntilMs: nowMs + 1 }) };
    expect(order(inputOf({ holder: keeper('c'), health }))).toEqual(['m@a', 'm@b', 'm@c']);
  });
});

describe('time limits (contract: routing/time-limits)', () => {
  it('time limits are the defaults for streams and whole answers, or the policy’s', () => {
    expect(plan(inputOf()).timeLimits).toEqual({
      connectMs: 5_000,
      firstByteMs: 600_000,
      firstWordMs: null,
      idleMs: null,
      totalMs: 3_600_000,
      holdMs: 5_000,
    });
    const stream = askOf({ stream: true });
    expect(plan(inputOf({ ask: stream })).timeLimits.firstByteMs).toBe(120_000);
    const policy = { timeouts: { connectMs: 100, firstByteMs: 200, firstByteWholeMs: 300 } };
    expect(plan(inputOf({ policy, ask: stream })).timeLimits).toMatchObject({
      connectMs: 100,
      firstByteMs: 200,
    });
    expect(plan(inputOf({ policy })).timeLimits).toMatchObject({ firstByteMs: 300, idleMs: null });
  });

  it('time limits are longer for models that think in silence, unless the policy sets them', () => {
    const { timeLimits } = plan(inputOf());
    expect(limitsOfModel(timeLimits, { reasoning: false })).toMatchObject({
      firstWordMs: 600_000,
      idleMs: 300_000,
    });
    expect(limitsOfModel(timeLimits, { reasoning: true })).toMatchObject({
      firstWordMs: 3_600_000,
      idleMs: 600_000,
    });
    const set = plan(inputOf({ policy: { timeouts: { firstWordMs: 1, idleMs: 2 } } })).timeLimits;
    expect(limitsOfModel(set, { reasoning: true })).toMatchObject({ firstWordMs: 1, idleMs: 2 });
  });
});
