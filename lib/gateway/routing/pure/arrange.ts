import type { OfferFacts } from '#lib/core/facts/snapshot';
import type { OfferHealth, Smoothed } from '#lib/gateway/routing/health';
import { type Draw, drawFor } from '#lib/gateway/routing/pure/draw';
import { ratesAt } from '#lib/gateway/routing/pure/rates';
import type { Rules } from '#lib/gateway/routing/pure/rules';

/** What arranging reads of a call. */
export interface Arranging {
  healthOf(offerId: string): OfferHealth;
  readonly callId: string;
  readonly nowMs: number;
  readonly stream: boolean;
  /** Estimates, tokens: the price is calculated for them. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The service tier that is asked for, as `tierOf` names it; null: none. */
  readonly tier: string | null;
  /** The provider that holds this call's prompt cache; null: none known. */
  readonly holder: string | null;
}

/** A smoothed figure expires after this long: the offer is then measured again. */
const FIGURE_LIVES_MS = 300_000;
/** Sorts before every measured figure, so that the next call measures the offer. */
const UNSEEN = Number.NEGATIVE_INFINITY;

/**
 * Steps 2 to 4 of a plan (contract: routing/plan): the offers of one model in the order of trying. Those that
 * `order` names come first, in its order; the rest is drawn by `weights`, else sorted. If the policy
 * leaves the choice open, the provider that holds the call's prompt cache goes first.
 */
export function arrange(offers: readonly OfferFacts[], rules: Rules, call: Arranging): readonly OfferFacts[] {
  if (offers.length < 2) return offers;
  const { order } = rules;
  if (order.length === 0) return arrangeRest(offers, rules, call);
  const named: OfferFacts[] = [];
  for (const id of order) {
    for (const offer of offers) if (offer.provider.id === id && !named.includes(offer)) named.push(offer);
  }
  if (named.length === offers.length) return named;
  const rest = offers.filter((offer) => !named.includes(offer));
  return [...named, ...arrangeRest(rest, rules, call)];
}

function arrangeRest(offers: readonly OfferFacts[], rules: Rules, call: Arranging): readonly OfferFacts[] {
  if (rules.weights === null && rules.sort === 'order' && call.holder === null) return offers;
  const draw = rules.weights === null ? null : drawFor(call.callId);
  const scored = offers.map((offer) => ({ offer, score: scoreOf(offer, rules, call, draw) }));
  // Sorting is stable: equal offers stay as in the catalogue.
  scored.sort((a, b) => (a.score < b.score ? -1 : a.score > b.score ? 1 : 0));
  const sorted = scored.map((one) => one.offer);
  const held = call.holder === null ? -1 : sorted.findIndex((offer) => offer.provider.id === call.holder);
  if (held > 0) sorted.unshift(...sorted.splice(held, 1));
  return sorted;
}

/** The lowest goes first. */
function scoreOf(offer: OfferFacts, rules: Rules, call: Arranging, draw: Draw | null): number {
  if (draw !== null) return draw(offer.provider.id, rules.weights?.get(offer.provider.id) ?? 1);
  switch (rules.sort) {
    case 'order':
      return 0;
    case 'price':
      return effectivePrice(offer, call, call.healthOf(offer.id).cachedShare);
    case 'latency': {
      const health = call.healthOf(offer.id);
      return measured(call.stream ? health.streamFirstByteMs : health.wholeMs, health, call.nowMs);
    }
    case 'throughput': {
      const health = call.healthOf(offer.id);
      const rate = measured(health.tokensPerSecond, health, call.nowMs);
      return Number.isFinite(rate) ? -rate : rate;
    }
  }
}

/**
 * A figure to sort by. An offer that was not measured for five minutes goes first, to be measured, unless
 * a call is measuring it now or it fails; then its old figure counts, or it goes last without one.
 */
function measured(figure: Smoothed, health: OfferHealth, nowMs: number): number {
  const fresh = figure.value !== null && nowMs - figure.atMs <= FIGURE_LIVES_MS;
  if (!fresh && health.running === 0 && health.failures === 0) return UNSEEN;
  return figure.value ?? Number.POSITIVE_INFINITY;
}

/**
 * What the call would cost there, nano-dollars × 10⁶: its estimated input, the share that this offer was
 * seen to read from its cache at the cached rate, and its expected output.
 */
function effectivePrice(
  offer: OfferFacts,
  work: Pick<Arranging, 'inputTokens' | 'outputTokens' | 'tier'>,
  cachedShare: number,
): number {
  if (offer.price === null) return Number.POSITIVE_INFINITY;
  const rates = ratesAt(offer.price.price, work.inputTokens, work.tier);
  const input = rates.cached * cachedShare + rates.input * (1 - cachedShare);
  return input * work.inputTokens + rates.output * work.outputTokens + rates.piece;
}
