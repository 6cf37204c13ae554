import { describe, expect, it } from 'vitest';
import type { CredentialFacts, OwnKey, OwnUse } from '#lib/core/facts/credential';
import type { ModelFacts, OfferFacts, ProviderFacts } from '#lib/core/facts/snapshot';
import { createHealth } from '#lib/gateway/routing/breaker';
import { untried } from '#lib/gateway/routing/health';
import {
  addressOf,
  healthIdOf,
  keepersOf,
  orderPool,
  ownChoice,
  poolOf,
} from '#lib/gateway/routing/pure/pool';

const plain = { weight: 1, priority: 1, models: null };
const operators: CredentialFacts[] = ['a', 'b'].map((name) => ({ ...plain, name, secret: `sk-${name}` }));

function ownKey(
  name: string,
  use: OwnUse,
  facts: { models?: string[]; address?: string; provider?: string } = {},
): OwnKey {
  const { models, address, provider: providerId = 'one' } = facts;
  const own = { use, feePoints: 500, address: address === undefined ? null : new URL(address) };
  const served = models ? new Set(models) : null;
  return {
    providerId,
    use,
    models: served,
    credential: { ...plain, name: `own:${name}`, secret: name, models: served, own },
  };
}

const ready = (href: string) => ({ state: 'ready', url: new URL(href) }) as const;
const providerOf = (id: string) =>
  ({
    id,
    credentials: operators,
    withdrawn: [],
    families: new Map([
      ['chat', ready('https://p.test/v1')],
      ['responses', ready('https://p.test/v1')],
      ['messages', ready('https://p.test/anthropic')],
    ]),
  }) as unknown as ProviderFacts;
const offerOf = (id: string) => ({ id: `offer-${id}`, modelId: 'm', provider: providerOf(id) }) as OfferFacts;
const [one, two] = [offerOf('one'), offerOf('two')];
const model = { id: 'm', offers: [one, two] } as unknown as ModelFacts;
const namesOf = (offer: OfferFacts, keys: OwnKey[], healthOf = (_: string) => untried) =>
  orderPool(offer, poolOf(offer, ownChoice(keys, model)), {
    callId: 'c',
    healthOf,
    nowMs: 0,
    holder: 'a',
  }).map(({ name }) => name);

describe('own keys in a pool (contract: own-keys/use)', () => {
  it('own keys are tried before the operator’s credentials, after them, or instead of them', () => {
    expect(namesOf(one, [ownKey('x', 'first')])).toEqual(['own:x', 'a', 'b']);
    expect(namesOf(one, [ownKey('x', 'last')])).toEqual(['a', 'b', 'own:x']);
    expect(namesOf(one, [ownKey('x', 'only')])).toEqual(['own:x']);
    expect(namesOf(two, [ownKey('x', 'only')])).toEqual([]);
    expect(namesOf(two, [ownKey('x', 'first')])).toEqual(['a', 'b']);
  });

  it('serve the models that they may, and concern no others', () => {
    expect(namesOf(one, [ownKey('x', 'only', { models: ['other'] })])).toEqual(['a', 'b']);
    expect(namesOf(one, [ownKey('x', 'only', { models: ['m'] })])).toEqual(['own:x']);
  });

  it('keep the operator’s credentials out even if they cannot be used', () => {
    const unusable = { ...ownKey('x', 'only'), credential: null };
    expect(namesOf(one, [unusable])).toEqual([]);
    expect(namesOf(one, [unusable, ownKey('y', 'last')])).toEqual(['own:y']);
  });

  it('go behind the operator’s credentials while they are set aside', () => {
    const aside = {
      failures: 5,
      openUntilMs: 9,
      tripped: true,
      probing: false,
      refused: true,
      lastError: null,
    };
    const healthOf = (id: string) =>
      id.includes('own:x') ? { ...untried, credentials: { 'own:x': aside } } : untried;
    expect(namesOf(one, [ownKey('x', 'first')], healthOf)).toEqual(['a', 'b', 'own:x']);
  });

  it('alone reach what they made', () => {
    const keys = [ownKey('x', 'first'), ownKey('y', 'first', { provider: 'two' })];
    const found = (name: string, of = keys) => keepersOf(one.provider, name, of).map((each) => each.name);
    expect([found('own:x'), found('own:x', []), found('own:y'), found('gone')]).toEqual([
      ['own:x'],
      [],
      [],
      ['a', 'b'],
    ]);
  });
});

describe('the health of own keys (contract: own-keys/health)', () => {
  it('is nothing that the offer, other credentials or the operator see', () => {
    const health = createHealth();
    const { credential } = ownKey('x', 'first');
    if (!credential) throw new Error('it has a credential');
    const aim = { offer: one, credential, pool: [credential, ...operators] };
    const failure = { status: 401, what: 'credential', credential: 'refused', retryAfterMs: null } as const;
    for (let times = 0; times < 10; times += 1) health.begin(aim, 0, false)?.failed(failure, 0);
    health.measured(
      healthIdOf(one, credential),
      { outputTokens: 9, tookMs: 9, inputTokens: 0, cachedTokens: 0 },
      0,
    );
    expect(health.isAside(aim, 1)).toBe(true);
    expect(health.of(one.id)).toEqual(untried);
    expect(health.list()).toEqual([]);
    expect(health.isAside({ offer: two, credential }, 1)).toBe(false);
  });
});

describe('own addresses (contract: own-keys/address)', () => {
  it('replace the main address, and are called in no family that has another', () => {
    const { credential } = ownKey('x', 'first', { address: 'https://ours.test/v1' });
    const at = (family: 'chat' | 'responses' | 'messages') =>
      credential && addressOf(one.provider, family, credential)?.href;
    expect([at('chat'), at('responses'), at('messages')]).toEqual([
      'https://ours.test/v1',
      'https://ours.test/v1',
      undefined,
    ]);
  });
});
