import { estimateMedia } from '#lib/admission/estimate-media';
import type { Ask, InputWeight } from '#lib/families/family';
import type { Price, Rates } from '#lib/metering/price-list';
import { divideUp } from '#lib/money';
import type { Target } from '#lib/routing/target';

/** What a call may cost and use, before it starts (decisions §6 "Hold"). */
export interface Estimate {
  /** Nano-dollars, rounded up once; a million dollars at most. */
  readonly holdNano: bigint;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What TPM counts at admission; 10¹² at most. */
  readonly tokens: number;
}

const IMAGE_TOKENS = 2_500;
const SEARCH_TOKENS = 10_000;
const SILENT_TOKENS = 8_192;
const UNITS = 1_000_000n;
/** A budget or `n` may be any number that JSON can hold; sums of holds must stay within BIGINT. */
const MOST_NANO = 1_000_000_000_000_000n;
const MOST_TOKENS = 1_000_000_000_000;

/**
 * The hold of a call: the estimated input at the dearest input rate among the targets, plus the output
 * budget × choices at the dearest output rate.
 * @param keyMaximum the key's maximum of output tokens, or null.
 * @param strict text counts one token a byte, a silent request its model's maximum.
 * @param previousTokens metered total of the call that `previous_response_id` names.
 */
export function estimate(
  ask: Ask,
  targets: readonly Target[],
  keyMaximum: number | null,
  strict: boolean,
  previousTokens: number,
): Estimate {
  const context = most(targets, (target) => target.model.contextTokens);
  const text = strict ? Math.min(ask.weight.textBytes, context) : Math.ceil(ask.weight.textBytes / 3);
  const textTokens = text + previousTokens + SEARCH_TOKENS * ask.weight.searchTools;
  const media = mediaTokens(ask.weight, context);
  const inputTokens = textTokens + media.images + media.sound + media.files;
  const made = estimateMedia(ask);
  const outputTokens = made.tokens ?? outputBudget(ask, targets, keyMaximum, strict) * ask.choices;

  const writesCache = ask.weight.textBytes > 0 && mentionsCache(ask.scan.body);
  let inputRate = 0n;
  let imageRate = 0n;
  let soundRate = 0n;
  let outputRate = 0n;
  let pieces = 0n;
  for (const { price, model } of targets.flatMap(withNested)) {
    const base = price.base;
    for (const rates of applicable(price, inputTokens, ask.serviceTier)) {
      const input = rates.input ?? base.input ?? 0n;
      const output = rates.output ?? base.output ?? 0n;
      inputRate = dearest(inputRate, input, ...(writesCache ? [rates.cacheWrite5m, rates.cacheWrite1h] : []));
      imageRate = dearest(imageRate, rates.imageInput ?? input);
      soundRate = dearest(soundRate, rates.audioInput ?? input);
      outputRate = dearest(outputRate, output, rates.reasoning);
      if (model.output.includes('image')) outputRate = dearest(outputRate, rates.imageOutput);
      if (model.output.includes('audio')) outputRate = dearest(outputRate, rates.audioOutput);
      pieces = dearest(pieces, (rates.request ?? base.request ?? 0n) + made.cost(rates, base));
    }
  }
  const total =
    BigInt(textTokens + media.files) * inputRate +
    BigInt(media.images) * imageRate +
    BigInt(media.sound) * soundRate +
    BigInt(outputTokens) * outputRate +
    pieces;
  const exactNano = divideUp(total, UNITS);
  return {
    holdNano: exactNano < MOST_NANO ? exactNano : MOST_NANO,
    inputTokens,
    outputTokens,
    tokens: Math.min(inputTokens + outputTokens, MOST_TOKENS),
  };
}

/**
 * Input tokens of a call whose provider reported none: text bytes ÷ 4, media as in the hold
 * (decisions §6 "What is charged").
 * @param contextTokens bound of each kind of file, when the model is known.
 */
export function estimateInput(weight: InputWeight, contextTokens = Number.MAX_SAFE_INTEGER): number {
  const { images, sound, files } = mediaTokens(weight, contextTokens);
  return Math.ceil(weight.textBytes / 4) + images + sound + files;
}

function mediaTokens(weight: InputWeight, context: number) {
  return {
    images: weight.images * IMAGE_TOKENS,
    sound: Math.ceil(weight.audioVideoBytes / 400),
    files: Math.min(Math.ceil(weight.fileBytes / 3), context),
  };
}

/** The request's budget, else the key's, else what a silent request may make (decisions §6). */
function outputBudget(
  ask: Ask,
  targets: readonly Target[],
  keyMaximum: number | null,
  strict: boolean,
): number {
  if (ask.budget !== null) return ask.budget;
  const longest = most(targets, (target) => target.model.maxOutputTokens);
  if (keyMaximum !== null) return Math.min(keyMaximum, longest);
  return strict ? longest : Math.min(longest, SILENT_TOKENS);
}

/** The rates that may come to apply: base, context tiers in reach, service tiers that the answer may name. */
function applicable(price: Price, inputTokens: number, serviceTier: string | null): readonly Rates[] {
  const rates = [price.base];
  for (const tier of price.tiers) if (inputTokens > tier.aboveInputTokens) rates.push(tier.rates);
  for (const [name, tier] of Object.entries(price.serviceTiers)) {
    if (serviceTier === name || serviceTier === 'auto') rates.push(tier);
  }
  return rates;
}

/** A request may spend its tokens at the price of any model that it names. */
function withNested({ price, model, nested }: Target) {
  const prices = [price, ...[...(nested?.values() ?? [])].map((offer) => offer.price)];
  return prices.map((version) => ({ price: version.price, model }));
}

function mentionsCache(body: Uint8Array): boolean {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes('"cache_control"');
}

function most(targets: readonly Target[], of: (target: Target) => number): number {
  return targets.reduce((largest, target) => Math.max(largest, of(target)), 0);
}

function dearest(...rates: readonly (bigint | undefined)[]): bigint {
  return rates.reduce<bigint>((most, rate) => (rate !== undefined && rate > most ? rate : most), 0n);
}
