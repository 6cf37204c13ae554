import type { ModelFacts } from '#lib/core/facts/snapshot';
import type { Ask, BatchWeight } from '#lib/core/families/family';
import { contextOf } from '#lib/core/metering/anomaly';
import { mediaTokens } from '#lib/core/metering/estimate-input';
import { feeOf } from '#lib/core/metering/own-fee';
import { tokenHours } from '#lib/core/metering/price';
import type { Price, Rates } from '#lib/core/metering/price-list';
import { batchTier, priceOfTier, tierOf } from '#lib/core/metering/service-tier';
import { divideUp } from '#lib/core/money';
import type { Target } from '#lib/gateway/routing/pure/target';

/** What a call may cost and use, before it starts (contract: money/hold). */
interface Estimate {
  /** Nano-dollars, rounded up once; a million dollars at most. */
  readonly holdNano: bigint;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What TPM counts at admission; 10¹² at most. */
  readonly tokens: number;
}

/** What the hold of a call depends on beside its request and its targets. */
export interface HoldTerms {
  /** The key's maximum of output tokens; null: none. */
  readonly keyMaximum: number | null;
  /** Text counts one token a byte, a request without a budget its model's maximum (contract: money/strict). */
  readonly strict: boolean;
  /** Metered total of the call that `previous_response_id` names. */
  readonly previousTokens: number;
}

const SEARCH_TOKENS = 10_000;
const SILENT_TOKENS = 8_192;
const UNITS = 1_000_000n;
/** A budget or `n` may be any number that JSON can hold; sums of holds must stay within BIGINT. */
const MOST_NANO = 1_000_000_000_000_000n;
const MOST_TOKENS = 1_000_000_000_000;

/**
 * The hold of a call: its list price, unless it can be answered by own keys only: then their fee, of the most expensive
 * of them (contract: own-keys/hold).
 */
export function estimate(ask: Ask, targets: readonly Target[], terms: HoldTerms): Estimate {
  const list = listEstimate(ask, targets, terms);
  const isOwn = ({ pool }: Target) => pool.length > 0 && pool.every(({ own }) => own);
  const own = targets.filter(isOwn);
  if (own.length === 0) return list;
  const others = targets.filter((target) => !isOwn(target));
  const paid = others.length > 0 ? listEstimate(ask, others, terms).holdNano : 0n;
  let points = 0;
  for (const { pool } of own) for (const one of pool) points = Math.max(points, one.own?.feePoints ?? 0);
  const fee = feeOf(listEstimate(ask, own, terms).holdNano, points);
  return { ...list, holdNano: larger(paid, fee) };
}

/**
 * The hold of a call at list price: the estimated input at the highest input rate among the targets, plus the output
 * budget × choices at the highest output rate.
 */
function listEstimate(ask: Ask, targets: readonly Target[], terms: HoldTerms): Estimate {
  if (ask.batch) return estimateBatch(ask.batch, targets);
  const { textTokens, media, inputTokens, outputTokens } = weighTokens(ask, targets, terms);
  const highest = new HighestRates(inputTokens, tierOf(ask.serviceTier), ask, () => mentionsCache(ask));
  for (const target of targets) {
    highest.add(target.price.price, target.model);
    // A request may spend its tokens at the price of any model that it names.
    if (target.nested)
      for (const offer of target.nested.values()) highest.add(offer.price.price, target.model);
  }
  let total =
    BigInt(textTokens + media.files) * highest.input + BigInt(outputTokens) * highest.output + highest.pieces;
  if (media.images > 0) total += BigInt(media.images) * highest.image;
  if (media.sound > 0) total += BigInt(media.sound) * highest.sound;
  const exactNano = divideUp(total, UNITS);
  return {
    holdNano: exactNano < MOST_NANO ? exactNano : MOST_NANO,
    inputTokens,
    outputTokens,
    tokens: Math.min(inputTokens + outputTokens, MOST_TOKENS),
  };
}

interface TokenWeights {
  readonly textTokens: number;
  readonly media: ReturnType<typeof mediaTokens>;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

function weighTokens(ask: Ask, targets: readonly Target[], terms: HoldTerms): TokenWeights {
  const { strict, previousTokens } = terms;
  const context = mostContext(targets);
  const sent = keepsFiles(ask)
    ? Math.min(context, MOST_KEPT_TOKENS)
    : strict
      ? Math.min(ask.weight.textBytes, context)
      : Math.ceil(ask.weight.textBytes / 3);
  // What came before is read again as far as a context holds it.
  const textTokens = sent + Math.min(previousTokens, context) + SEARCH_TOKENS * ask.weight.searchTools;
  const media = mediaTokens(ask.weight, context);
  const inputTokens = textTokens + media.images + media.sound + media.files;
  const text = textBudget(ask, targets, terms);
  const outputTokens = ask.media?.tokens ?? ask.audio?.tokens ?? text;
  return { textTokens, media, inputTokens, outputTokens };
}

/** More than any line writes; sums of all lines of a file stay exact. */
const MOST_LINE_TOKENS = 100_000_000_000;

/** Adds a line of a file of requests to what the lines before it ask for (contract: batches/hold). */
export function addLine(sum: BatchWeight, ask: Ask, target: Target, terms: HoldTerms): BatchWeight {
  const { textTokens, media, inputTokens, outputTokens } = weighTokens(ask, [target], terms);
  const written = Math.min(outputTokens, MOST_LINE_TOKENS);
  const named = ask.budget !== null || target.injectBudget !== null || ask.operation.budgeted !== true;
  return {
    endpoint: sum.endpoint,
    lines: sum.lines + 1,
    textTokens: sum.textTokens + textTokens + media.files,
    imageTokens: sum.imageTokens + media.images,
    soundTokens: sum.soundTokens + media.sound,
    outputTokens: sum.outputTokens + written,
    mostInput: Math.max(sum.mostInput, inputTokens),
    mostOutput: named && (sum.lines === 0 || sum.mostOutput > 0) ? Math.max(sum.mostOutput, written, 1) : 0,
    choices: Math.max(sum.choices, ask.choices),
    serverTools: ask.serverTools ? 1 : sum.serverTools,
    caches: mentionsCache(ask) ? 1 : sum.caches,
  };
}

/** The hold of a batch: all lines at batch prices. They do not count as tokens a minute: a provider takes a day for them. */
function estimateBatch(batch: BatchWeight, targets: readonly Target[]): Estimate {
  const highest = new HighestRates(batch.mostInput, batchTier, {}, () => batch.caches === 1);
  for (const { price, model } of targets) highest.addTier(price.price, model);
  const total =
    BigInt(batch.textTokens) * highest.input +
    BigInt(batch.imageTokens) * highest.image +
    BigInt(batch.soundTokens) * highest.sound +
    BigInt(batch.outputTokens) * highest.output +
    BigInt(batch.lines) * highest.pieces;
  // Each line is rounded up for itself.
  const exactNano = divideUp(total, UNITS) + BigInt(batch.lines);
  return {
    holdNano: exactNano < MOST_NANO ? exactNano : MOST_NANO,
    inputTokens: batch.textTokens + batch.imageTokens + batch.soundTokens,
    outputTokens: batch.outputTokens,
    tokens: 0,
  };
}

type Made = Pick<Ask, 'media' | 'audio' | 'cache'>;

/** The highest rates that the call may be charged at, nano-dollars per million units. */
class HighestRates {
  input = 0n;
  image = 0n;
  sound = 0n;
  output = 0n;
  /** What is priced by the piece, nano-dollars × 10⁶. */
  pieces = 0n;
  readonly #inputTokens: number;
  readonly #serviceTier: string | null;
  readonly #made: Made;
  readonly #writesCache: () => boolean;

  constructor(inputTokens: number, serviceTier: string | null, made: Made, writesCache: () => boolean) {
    this.#inputTokens = inputTokens;
    this.#serviceTier = serviceTier;
    this.#made = made;
    this.#writesCache = writesCache;
  }

  /** Every set of rates of a price that may apply: base, context tiers in reach, the service tier asked for. */
  add(price: Price, model: ModelFacts): void {
    this.#rates(price.base, price.base, model);
    for (const tier of price.tiers) {
      if (this.#inputTokens > tier.aboveInputTokens) this.#rates(tier.rates, price.base, model);
    }
    this.addTier(price, model);
  }

  /** The rates of the service tier that was asked for, and no others. */
  addTier(price: Price, model: ModelFacts): void {
    const service = this.#serviceTier === null ? null : priceOfTier(price, this.#serviceTier);
    if (!service) return;
    this.#rates(service.rates, price.base, model);
    for (const tier of service.rates.tiers ?? []) {
      if (this.#inputTokens > tier.aboveInputTokens) this.#rates(tier.rates, price.base, model);
    }
  }

  #rates(rates: Rates, base: Rates, model: ModelFacts): void {
    const input = rates.input ?? base.input ?? 0n;
    const output = rates.output ?? base.output ?? 0n;
    this.input = larger(this.input, input);
    const cached = larger(rates.cacheWrite5m ?? 0n, rates.cacheWrite1h ?? 0n);
    if (cached > this.input && this.#writesCache()) this.input = cached;
    this.image = larger(this.image, rates.imageInput ?? input);
    this.sound = larger(this.sound, rates.audioInput ?? input);
    this.output = larger(this.output, larger(output, rates.reasoning ?? 0n));
    if (rates.imageOutput !== undefined && model.output.includes('image'))
      this.output = larger(this.output, rates.imageOutput);
    if (rates.audioOutput !== undefined && model.output.includes('audio'))
      this.output = larger(this.output, rates.audioOutput);
    this.pieces = larger(
      this.pieces,
      (rates.request ?? base.request ?? 0n) + piecesOf(this.#made, rates, base) + this.#storage(rates, base),
    );
  }

  /** What a context cache costs to be kept: of a new one, the estimated input. */
  #storage(rates: Rates, base: Rates): bigint {
    const { cache } = this.#made;
    if (!cache) return 0n;
    const hours = tokenHours({ tokens: cache.tokens ?? this.#inputTokens, seconds: cache.seconds });
    return BigInt(hours) * (rates.cacheStorage ?? base.cacheStorage ?? 0n);
  }
}

/** Price of the pieces that a request asks for, nano-dollars × 10⁶. */
function piecesOf({ media, audio }: Made, rates: Rates, base: Rates): bigint {
  let pieces = 0n;
  if (media) pieces += BigInt(media.quantity) * pieceRate(rates[media.unit] ?? base[media.unit], media.names);
  if (audio) {
    pieces += BigInt(audio.characters) * (rates.characters ?? base.characters ?? 0n);
    pieces += BigInt(audio.ms) * (rates.audioMs ?? base.audioMs ?? 0n);
  }
  return pieces;
}

/** Output tokens of all choices; nothing can keep an unlimited operation to the key's maximum. */
function textBudget(ask: Ask, targets: readonly Target[], terms: HoldTerms): number {
  const { budgeted, unlimited } = ask.operation;
  if (unlimited) return outputBudget(ask, targets, { ...terms, keyMaximum: null }) * ask.choices;
  return budgeted ? outputBudget(ask, targets, terms) * ask.choices : 0;
}

/**
 * For each choice: the request's budget, else its share of the key's, else what a silent request may make
 * (contract: money/hold).
 */
function outputBudget(ask: Ask, targets: readonly Target[], { keyMaximum, strict }: HoldTerms): number {
  const injected = targets.reduce((most, target) => Math.max(most, target.injectBudget ?? 0), 0);
  return Math.max(injected, silentBudget(ask, targets, { keyMaximum, strict }));
}

function silentBudget(
  ask: Ask,
  targets: readonly Target[],
  { keyMaximum, strict }: Pick<HoldTerms, 'keyMaximum' | 'strict'>,
): number {
  const named = ask.budget ?? 0;
  if (ask.budget !== null && !ask.budgetIsNested) return named;
  let longest = 0;
  for (const { model } of targets) longest = Math.max(longest, model.maxOutputTokens);
  // A catalogue that gives no maximum (0) sets no bound.
  const bound = longest === 0 ? Number.MAX_SAFE_INTEGER : longest;
  if (keyMaximum !== null) return Math.max(named, Math.min(Math.floor(keyMaximum / ask.choices), bound));
  return Math.max(named, strict && longest > 0 ? longest : Math.min(bound, SILENT_TOKENS));
}

/** Of a context cache whose model has no known context. */
const MOST_KEPT_TOKENS = 10_000_000;

/** Whether a new context cache has files that are at the provider: as long as the context, as far as is known here. */
function keepsFiles({ cache, scan: { body } }: Ask): boolean {
  if (!cache || cache.tokens !== null) return false;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return text.includes('fileUri') || text.includes('file_uri');
}

/** Whether the body asks for anything to be written to a cache: looked for only if that costs more. */
function mentionsCache({ weight, scan: { body } }: Ask): boolean {
  if (weight.textBytes === 0) return false;
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"cache_control"');
}

/** A catalogue that gives no context (0) sets no bound. */
function mostContext(targets: readonly Target[]): number {
  let most = 0;
  for (const { model } of targets) most = Math.max(most, contextOf(model));
  return most === 0 ? Number.MAX_SAFE_INTEGER : most;
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/**
 * The rate of a piece as its hold counts it (contract: money/media-hold): the entry of a price map that fits, else its
 * highest one, since what is unknown may be the most expensive.
 * @param names entries that fit, the closest first.
 * @returns nano-dollars per million pieces, as the price has it; 0n without a price.
 */
function pieceRate(
  rate: bigint | Readonly<Record<string, bigint>> | undefined,
  names: readonly string[],
): bigint {
  if (rate === undefined) return 0n;
  if (typeof rate === 'bigint') return rate;
  for (const name of names) if (Object.hasOwn(rate, name)) return rate[name] ?? 0n;
  let highest = 0n;
  for (const one of Object.values(rate)) if (one > highest) highest = one;
  return highest;
}
