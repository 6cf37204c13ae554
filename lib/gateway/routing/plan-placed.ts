import { type Refusal, refusal } from '#lib/core/errors';
import type { Keeper } from '#lib/core/facts/credential';
import { isRetired } from '#lib/core/facts/retired';
import type { Catalogue, KeySnapshot, OfferFacts, ProviderFacts } from '#lib/core/facts/snapshot';
import { operatorStores, type StoreName } from '#lib/core/facts/stores';
import type { Ask } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { batchTier, coversTier } from '#lib/core/metering/service-tier';
import type { OfferHealth } from '#lib/gateway/routing/health';
import { lentOffer } from '#lib/gateway/routing/plan-stored';
import { addressOf, keepersOf, orderPool, poolOf, reachable } from '#lib/gateway/routing/pure/pool';
import { type Rules, rulesFor } from '#lib/gateway/routing/pure/rules';
import type { Plan, Target } from '#lib/gateway/routing/pure/target';
import { timeLimitsOf } from '#lib/gateway/routing/pure/time-limits';

export interface PlacedPlanInput {
  readonly ask: Ask;
  readonly family: FamilyId;
  readonly stores: StoreName;
  /** What the lines of a file of requests call: its provider must offer that at batch prices. Absent: it is no such file. */
  readonly lines?: { readonly model: string; readonly family: FamilyId };
  /** The header `X-Provider`; null: absent or empty. */
  readonly named: string | null;
  /** Who keeps what the body refers to; null: nothing. */
  readonly pinned: Keeper | null;
  readonly catalogue: Catalogue;
  readonly snapshot: Pick<KeySnapshot, 'policies' | 'ownKeys'>;
  readonly healthOf: (id: string) => OfferHealth;
  readonly callId: string;
  readonly nowMs: number;
}

/** Where a request goes that names no model (contract: routing/no-model). Pure. */
export function planPlaced(input: PlacedPlanInput): Plan {
  const rules = rulesFor(input.snapshot.policies, '');
  const timeLimits = timeLimitsOf(rules.policy, input.ask);
  const found = chosen(input, rules);
  return 'code' in found
    ? { targets: [], attempts: 1, timeLimits, failure: found, unable: false }
    : { targets: [found], attempts: 1, timeLimits, failure: null, unable: false };
}

function chosen(input: PlacedPlanInput, rules: Rules): Target | Refusal {
  const { stores, lines, pinned, catalogue } = input;
  const named = pinned?.providerId ?? input.named;
  const model = lines && catalogue.models.get(lines.model);
  const offersLines = (id: string) =>
    !lines ||
    model?.offers.some((offer) => offer.provider.id === id && batchOffer(offer, lines.family, input.nowMs));
  if (input.named !== null && input.named !== named) return refuseOtherProvider(input.named, named ?? '');
  const storing = [...catalogue.providers.values()].filter(
    ({ id, stores: all }) =>
      all.has(stores) && (pinned !== null || ((rules.only?.has(id) ?? true) && !rules.ignore?.has(id))),
  );
  if (named !== null && !storing.some(({ id }) => id === named))
    return refuseUnlistedProvider(named, stores, storing);
  const offering = storing.filter(({ id }) => offersLines(id));
  if (lines && !offering.some(({ id }) => named === null || id === named))
    return noBatches(lines.model, storing, named);
  const ready = offering.flatMap((provider) => targetAt(provider, input) ?? []);
  const at = (id: string | undefined) => ready.find(({ offer }) => offer.provider.id === id);
  if (named !== null) return at(named) ?? unreachable([named]);
  const [first, ...others] = ready;
  const preferred = at(rules.order.find((id) => at(id) !== undefined));
  if (preferred) return preferred;
  if (!first) return nowhere(stores, storing);
  return others.length === 0 ? first : undecided(stores, ready);
}

function targetAt(provider: ProviderFacts, input: PlacedPlanInput): Target | null {
  const { family, lines, catalogue, pinned, callId, healthOf, nowMs, snapshot } = input;
  const lent = lines
    ? (catalogue.models
        .get(lines.model)
        ?.offers.find((one) => one.provider.id === provider.id && batchOffer(one, lines.family, nowMs)) ??
      null)
    : lentOffer({ providerId: provider.id, family, modelId: '' }, catalogue);
  const model = lent && catalogue.models.get(lent.modelId);
  if (!lent?.price || !model) return null;
  const offer: OfferFacts = lines ? lent : { ...lent, modelId: '', upstreamModel: '' };
  const order = { callId, healthOf, nowMs, holder: null };
  const own = snapshot.ownKeys ?? [];
  // Without a model, an own key must be one for all models; files and batches are the operator's (contract: own-keys/use).
  const forAll = own.filter(({ models }) => models === null);
  const keys = operatorStores.has(input.stores) ? [] : forAll;
  const only = lines
    ? own.some(({ use, models }) => use === 'only' && (models?.has(lines.model) ?? true))
    : forAll.some((key) => key.providerId === provider.id && key.use === 'only');
  const pool = pinned
    ? keepersOf(provider, pinned.credential, snapshot.ownKeys)
    : orderPool(offer, reachable(poolOf(offer, { keys, only }), provider, family), order);
  const [credential] = pool;
  const address = credential && addressOf(provider, family, credential);
  if (!credential || !address) return null;
  return {
    model: lines ? model : { ...model, id: '' },
    offer,
    family,
    address,
    credential,
    pool,
    price: lent.price,
    injectBudget: null,
  };
}

/** Whether lines of a batch can be answered and priced by an offer (contract: batches/prices). */
export function batchOffer(offer: OfferFacts, family: FamilyId, nowMs: number): boolean {
  return (
    offer.families.has(family) &&
    offer.price !== null &&
    coversTier(offer.price.price, batchTier) &&
    !isRetired(offer, nowMs)
  );
}

function noBatches(model: string, storing: readonly ProviderFacts[], named: string | null): Refusal {
  const where = named ?? (idsOf(storing) || 'no provider');
  return refusal(
    'model_not_allowed',
    `Model ${model} cannot be called in batches: of the providers that take batches (${where}), none offers it at a batch price; choose another model.`,
  );
}

function refuseOtherProvider(named: string, keeper: string): Refusal {
  return refusal(
    'invalid_body',
    `The header X-Provider names "${named.slice(0, 64)}", but the body refers to what ${keeper} stores; leave the header out.`,
  );
}

function refuseUnlistedProvider(
  named: string,
  stores: StoreName,
  storing: readonly ProviderFacts[],
): Refusal {
  const others = storing.length > 0 ? `name one of: ${idsOf(storing)}` : 'leave the name out';
  return refusal(
    'invalid_body',
    `The provider "${named.slice(0, 64)}", which X-Provider names or the body refers to, does not store ${stores} for this workspace; ${others}.`,
  );
}

function undecided(stores: StoreName, ready: readonly Target[]): Refusal {
  const ids = idsOf(ready.map(({ offer }) => offer.provider));
  return refusal(
    'invalid_body',
    `Several providers store ${stores} (${ids}), and the request names no model; name one in the header X-Provider, or in "order" of the routing policy.`,
  );
}

function nowhere(stores: StoreName, storing: readonly ProviderFacts[]): Refusal {
  if (storing.length > 0) return unreachable(storing.map(({ id }) => id));
  return refusal(
    'invalid_body',
    `No provider stores ${stores} for this workspace; the gateway's operator decides which do ("stores" in the catalogue), and the routing policy which of them are used.`,
  );
}

function unreachable(ids: readonly string[]): Refusal {
  return refusal(
    'missing_upstream_base_url',
    `The provider (${ids.join(', ')}) lacks an address, a credential or a priced offer; the gateway's operator must configure it.`,
  );
}

function idsOf(providers: readonly ProviderFacts[]): string {
  return providers.map(({ id }) => id).join(', ');
}
