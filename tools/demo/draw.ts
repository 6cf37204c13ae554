import { isRetired } from '#lib/core/facts/retired';
import type { Catalogue, OfferFacts, PriceVersion } from '#lib/core/facts/snapshot';
import { paidOnce } from '#lib/core/metering/image-usage';
import { price } from '#lib/core/metering/price';
import { noUsage } from '#lib/core/metering/usage';
import { parseUsd } from '#lib/core/money';
import type { AttemptRecord, CallRecord } from '#lib/gateway/settlement/pure/entry';
import { durationOf, failureOf, usageFor } from '#tools/demo/answers';
import type { App } from '#tools/demo/cast';
import { Dice } from '#tools/demo/dice';
import { hourMs, shareOf, troubles } from '#tools/demo/rhythm';

/** The circumstances in which the calls of one application are drawn. */
export interface Stage {
  readonly catalogue: Catalogue;
  readonly workspaceId: string;
  readonly keyId: string;
  /** IANA zone of the people who work and sleep. */
  readonly timeZone: string;
  /** ms since the epoch; no call ends after it. */
  readonly untilMs: number;
  /** No call is before it. */
  readonly fromMs: number;
  readonly seed: number;
  /** The number of calls relative to the usual number. */
  readonly scale: number;
}

/** Time from the end of a call to its settlement, ms. */
export const settledAfterMs = 200;

type Priced = OfferFacts & { readonly price: PriceVersion };

/**
 * The calls of an application, in the order of their ids; the same for the same stage. Costs follow the catalogue's prices.
 * Empty if the catalogue has none of its models.
 */
export function drawCalls(app: App, stage: Stage): CallRecord[] {
  const dice = new Dice(stage.seed);
  const { untilMs, timeZone } = stage;
  const trouble = troubles(untilMs);
  const targets = app.models.flatMap(([slugs, share]) => {
    const offers = offersOf(stage, app, slugs);
    return offers.length > 0 ? [[offers, share] as const] : [];
  });
  if (targets.length === 0) return [];
  const rescue = app.fallback === undefined ? [] : offersOf(stage, app, [app.fallback]);
  const dayMs = 24 * hourMs;
  const fromMs = Math.max(stage.fromMs, app.fromDay === undefined ? 0 : untilMs - app.fromDay * dayMs);
  const toMs = untilMs - (app.untilDay ?? 0) * dayMs;
  let left = app.limits?.quotaUsd === undefined ? null : parseUsd(app.limits.quotaUsd);
  const calls: CallRecord[] = [];
  for (const atMs of momentsOf(dice, app, { fromMs, toMs, timeZone, scale: stage.scale })) {
    const call = new Draft(dice, app, stage, atMs);
    if (left !== null && left <= 0n) calls.push(call.refused('quota_exceeded', 402));
    else if (dice.chance(app.limited ?? 0.002)) calls.push(call.refused('api_key_rpm_exceeded', 429));
    else if (dice.chance(0.0015)) calls.push(call.refused('model_not_allowed', 400));
    else calls.push(call.served([...dice.pick(targets), ...rescue], trouble));
    if (left !== null) left -= calls.at(-1)?.costNano ?? 0n;
  }
  return calls.filter((one) => one.atMs + one.latencyMs + settledAfterMs < untilMs);
}

function offersOf(
  { catalogue, untilMs }: Stage,
  { family }: App,
  slugs: readonly string[],
): readonly Priced[] {
  for (const slug of slugs) {
    const offers = (catalogue.models.get(slug)?.offers ?? []).filter(
      (offer): offer is Priced =>
        offer.price !== null && offer.families.has(family) && !isRetired(offer, untilMs),
    );
    if (offers.length > 0) return offers;
  }
  return [];
}

/** When an application calls: a little more from week to week. ms since the epoch, ascending. */
function momentsOf(
  dice: Dice,
  app: App,
  { fromMs, toMs, timeZone, scale }: { fromMs: number; toMs: number; timeZone: string; scale: number },
): number[] {
  const all: number[] = [];
  for (let startMs = fromMs; startMs < toMs; startMs += hourMs) {
    const growth = 0.75 + (0.35 * (startMs - fromMs)) / (toMs - fromMs);
    const lengthMs = Math.min(hourMs, toMs - startMs);
    const expected =
      app.perDay * scale * growth * shareOf(app.rhythm, startMs, timeZone) * (lengthMs / hourMs);
    const count = Math.floor(dice.around(expected, 0.25) + dice.next());
    for (let n = 0; n < count; n++) all.push(startMs + Math.floor(dice.next() * lengthMs));
  }
  return all.sort((one, other) => one - other);
}

/** One call before it is a row. */
class Draft {
  readonly #dice: Dice;
  readonly #app: App;
  readonly #base: Pick<
    CallRecord,
    | 'id'
    | 'clientRequestId'
    | 'atMs'
    | 'workspaceId'
    | 'keyId'
    | 'family'
    | 'operation'
    | 'userAgent'
    | 'flags'
  > & { readonly overheadMs: number; readonly streamed: boolean };

  constructor(dice: Dice, app: App, stage: Stage, atMs: number) {
    this.#dice = dice;
    this.#app = app;
    this.#base = {
      id: dice.id(atMs),
      clientRequestId: dice.chance(0.15) ? `job-${dice.hex(10)}` : null,
      atMs,
      workspaceId: stage.workspaceId,
      keyId: stage.keyId,
      family: app.family,
      operation: app.operation,
      userAgent: app.userAgent,
      flags: [],
      overheadMs: Math.round(dice.around(0.6, 0.5) * 100) / 100,
      streamed: dice.chance(app.streamed),
    };
  }

  /** Refused before any attempt. */
  refused(errorCode: string, status: number): CallRecord {
    const known = this.#app.models[0]?.[0][0] ?? null;
    return {
      ...this.#base,
      ...unanswered,
      requestedModel: errorCode === 'model_not_allowed' ? 'gpt-3.5-turbo' : (this.#app.alias ?? known),
      status,
      errorCode,
      endReason: 'refused',
      latencyMs: 0,
      attempts: [],
    };
  }

  /** Tries at most four of its offers, one after another. */
  served(offers: readonly Priced[], trouble: Parameters<typeof failureOf>[2]): CallRecord {
    const [first] = offers;
    const requestedModel = this.#app.alias ?? first?.modelId ?? null;
    const attempts: AttemptRecord[] = [];
    let spentMs = 1;
    for (const offer of offers.slice(0, 4)) {
      const failed = failureOf(this.#dice, offer, trouble, this.#base.atMs);
      if (failed === null) return this.#answered(offer, { requestedModel, attempts, spentMs, trouble });
      attempts.push({
        ...this.#attempt(offer, spentMs, failed.tookMs),
        status: failed.status,
        error: failed.error,
        upstreamRequestId: failed.status === null ? null : `req_${this.#dice.hex(20)}`,
      });
      spentMs += failed.tookMs + 1;
    }
    const last = attempts.findLast(({ status }) => status !== null);
    return {
      ...this.#base,
      ...unanswered,
      requestedModel,
      answeringModel: last ? last.model : (first?.modelId ?? null),
      provider: last ? last.provider : (first?.provider.id ?? null),
      priceVersionId: first?.price.id ?? null,
      status: last?.status ?? 502,
      errorCode: last ? null : 'upstream_request_failed',
      endReason: last ? 'completed' : 'upstream_error',
      holdNano: 5_000_000n,
      latencyMs: spentMs,
      firstByteMs: last ? spentMs : null,
      attempts,
    };
  }

  #answered(
    offer: Priced,
    so: {
      readonly requestedModel: string | null;
      readonly attempts: readonly AttemptRecord[];
      readonly spentMs: number;
      readonly trouble: Parameters<typeof failureOf>[2];
    },
  ): CallRecord {
    const dice = this.#dice;
    const { streamed, atMs } = this.#base;
    const refusedThere = dice.chance(0.006);
    const usage = refusedThere ? { ...noUsage } : usageFor(dice, this.#app);
    const took = durationOf(dice, offer, { output: usage.output, streamed, troubles: so.trouble, atMs });
    const left = !refusedThere && streamed && dice.chance(0.012);
    const ownMs = refusedThere ? Math.min(took.firstByteMs, 400) : took.latencyMs;
    const list = offer.price.price;
    const none = new Map();
    const report = { usage, serviceTier: null, nested: [], flags: [] };
    const { costNano, lines } = price(paidOnce(report, list, none), list, none);
    const attempt = {
      ...this.#attempt(offer, so.spentMs, ownMs),
      status: refusedThere ? 400 : 200,
      upstreamRequestId: `req_${dice.hex(20)}`,
    };
    const held = BigInt(Math.round(dice.around(2.4, 0.35) * 100));
    return {
      ...this.#base,
      requestedModel: so.requestedModel,
      answeringModel: offer.modelId,
      provider: offer.provider.id,
      status: refusedThere ? 400 : 200,
      errorCode: null,
      latencyMs: so.spentMs + ownMs,
      firstByteMs: so.spentMs + Math.min(took.firstByteMs, ownMs),
      endReason: left ? 'client_gone' : 'completed',
      usageSource: refusedThere ? 'none' : left ? 'estimated' : 'reported',
      usage,
      lines,
      costNano,
      holdNano: (costNano * held) / 100n + 1_000_000n,
      priceVersionId: offer.price.id,
      attempts: [...so.attempts, attempt],
    };
  }

  #attempt(offer: Priced, startMs: number, durationMs: number): AttemptRecord {
    const at = { provider: offer.provider.id, model: offer.modelId };
    return {
      ...at,
      startMs,
      durationMs,
      status: null,
      error: null,
      upstreamRequestId: null,
      credential: 'default',
      possibleDuplicate: false,
      providerCode: null,
      providerMessage: null,
    };
  }
}

/** The fields of calls that cost nothing. */
const unanswered = {
  answeringModel: null,
  provider: null,
  priceVersionId: null,
  firstByteMs: null,
  usageSource: 'none',
  usage: { ...noUsage },
  lines: [],
  costNano: 0n,
  holdNano: 0n,
} as const;
