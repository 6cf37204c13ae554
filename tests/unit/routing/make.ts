import type { Keeper } from '#lib/core/facts/credential';
import type { Catalogue, KeySnapshot, ModelFacts, OfferFacts, Policy } from '#lib/core/facts/snapshot';
import type { Ask } from '#lib/core/families/family';
import type { Price } from '#lib/core/metering/price-list';
import { parseUsd } from '#lib/core/money';
import type { Aimed, AttemptFailure, OfferHealth, Smoothed } from '#lib/gateway/routing/health';
import type { PlanInput } from '#lib/gateway/routing/pure/plan';
import { askChat, makeCredential, makeModel, makeOffer, makeProvider } from '#tests/unit/families/make';

export const nowMs = 1_800_000_000_000;

/** A price in dollars per million tokens. */
export function usd(input: string, output: string, more: Partial<Price['base']> = {}): Price {
  return {
    base: { input: parseUsd(input), output: parseUsd(output), ...more },
    tiers: [],
    serviceTiers: {},
  };
}

/** An offer that can be routed to; its id is "model@provider". */
export function offerAt(provider: string, model = 'm', part: Partial<OfferFacts> = {}): OfferFacts {
  return makeOffer({
    id: `${model}@${provider}`,
    modelId: model,
    provider: makeProvider({
      id: provider,
      families: new Map([['chat', { state: 'ready', url: new URL(`https://${provider}.test/v1`) }]]),
    }),
    price: { id: `price of ${model}@${provider}`, effectiveAtMs: 0, price: usd('1', '4') },
    ...part,
  });
}

export function modelOf(
  id: string,
  offers: readonly OfferFacts[],
  part: Partial<ModelFacts> = {},
): ModelFacts {
  return makeModel({ id, offers, ...part });
}

export function catalogueOf(...models: readonly ModelFacts[]): Catalogue {
  const offers = models.flatMap((model) => model.offers);
  return {
    models: new Map(models.map((model) => [model.id, model])),
    providers: new Map(offers.map((offer) => [offer.provider.id, offer.provider])),
  };
}

export function snapshotOf(
  policies: Readonly<Record<string, Policy>> = {},
  key: Partial<KeySnapshot['key']> = {},
): KeySnapshot {
  const limits = { rpm: null, tpm: null, concurrency: null };
  return {
    key: {
      id: 'key',
      name: 'key',
      status: 'active',
      quotaExhausted: false,
      models: null,
      maxOutputTokens: null,
      caps: { dayNano: null, d7Nano: null, d30Nano: null, quotaNano: null },
      limits,
      expiresAtMs: null,
      ownerRemoved: false,
      sessionEnded: false,
      ...key,
    },
    workspace: { id: 'w', slug: 'w', timeZone: 'UTC', strict: false, suspended: false, limits },
    policies: new Map(Object.entries(policies)),
    content: null,
    secretUntilMs: null,
  };
}

export const unseen: Smoothed = { value: null, atMs: 0 };

export function healthOf(part: Partial<OfferHealth> = {}): OfferHealth {
  return {
    streamFirstByteMs: unseen,
    wholeMs: unseen,
    tokensPerSecond: unseen,
    cachedShare: 0,
    errorRate: 0,
    failures: 0,
    running: 0,
    openUntilMs: 0,
    tripped: false,
    probing: false,
    credentials: {},
    ...part,
  };
}

/** The only credential of an offer, as attempts are reported by it. */
export function aimedAt(offerId: string): Aimed {
  return { offer: makeOffer({ id: offerId }), credential: makeCredential() };
}

/** Who keeps or holds something. */
export function keeper(providerId: string, credential = 'default'): Keeper {
  return { providerId, credential };
}

/** A failure of an attempt that says nothing about the credential. */
export function failure(retryAfterMs: number | null = null): AttemptFailure {
  return { status: 500, what: 'server', credential: null, retryAfterMs };
}

export function seen(value: number, agoMs = 1_000): Smoothed {
  return { value, atMs: nowMs - agoMs };
}

export function askOf(body: object = {}): Ask {
  return askChat({ model: 'm', messages: [{ role: 'user', content: 'hello' }], ...body });
}

/** A plan's input: model "m" at providers a, b, c unless `catalogue` says otherwise. */
export function inputOf(
  part: Omit<Partial<PlanInput>, 'healthOf'> & {
    readonly policy?: Policy;
    readonly health?: Readonly<Record<string, OfferHealth>>;
  } = {},
): PlanInput {
  const { policy, health = {}, ...rest } = part;
  const healthy = healthOf();
  return {
    ask: askOf(),
    family: 'chat',
    snapshot: snapshotOf(policy ? { '': policy } : {}),
    catalogue: catalogueOf(modelOf('m', [offerAt('a'), offerAt('b'), offerAt('c')])),
    callId: '01900000-0000-7000-8000-000000000000',
    nowMs,
    healthOf: (offerId) => health[offerId] ?? healthy,
    ...rest,
  };
}
