import type { Ask } from '#lib/core/families/family';
import { estimatedInput } from '#lib/core/metering/estimate-input';
import { estimateOutputTokens } from '#lib/core/metering/estimate-output';
import type { Price } from '#lib/core/metering/price-list';
import { countedTokens, type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

/**
 * Pictures are paid by the token or by the piece, never by both: where their tokens were reported and
 * have a price, the pieces are only counted for the call log. The same goes for audio, by its tokens, its characters or
 * its length: what the price does not mention is only counted (contract: money/audio-charge).
 */
export function paidOnce(
  report: UsageReport,
  own: Price,
  nestedPrices: ReadonlyMap<string, Price>,
): UsageReport {
  const { usage, nested } = report;
  if (!hasPieces(usage) && !nested.some((part) => hasPieces(part.usage))) return report;
  return {
    ...report,
    usage: withoutPieces(usage, own),
    nested: nested.map((part) => ({
      ...part,
      usage: withoutPieces(part.usage, nestedPrices.get(part.upstreamModel) ?? own),
    })),
  };
}

function hasPieces({ images, characters, audioMs }: Usage): boolean {
  return images > 0 || characters > 0 || audioMs > 0;
}

function withoutPieces(usage: Usage, { base }: Price): Usage {
  const byToken = usage.output > 0 && (base.imageOutput ?? base.output) !== undefined;
  const { characters, audioMs } = usage;
  const heard = characters > 0 || audioMs > 0;
  const sound = heard && isSound(base);
  return {
    ...usage,
    images: byToken ? 0 : usage.images,
    characters: sound && base.characters === undefined ? 0 : characters,
    audioMs: sound && base.audioMs === undefined ? 0 : audioMs,
  };
}

/** Whether a price has anything by which audio can be charged. */
function isSound(base: Price['base']): boolean {
  return (base.characters ?? base.audioMs ?? base.input ?? base.output) !== undefined;
}

/**
 * Whether a report contains only pictures or audio although the price is by token: the answer then reported nothing
 * that can be charged, which is not the same as nothing.
 */
export function lacksTokens({ usage, nested, flags }: UsageReport, { base }: Price): boolean {
  // Figures that count as 0 were still reported.
  if (flags.some((flag) => flag !== 'usage_counted')) return false;
  const byPiece = base.image ?? base.characters ?? base.audioMs;
  const byToken = byPiece === undefined && (base.output ?? base.imageOutput ?? base.input) !== undefined;
  return byToken && hasPieces(usage) && nested.length === 0 && countedTokens(usage) + usage.cachedInput === 0;
}

/**
 * Estimates the usage of an answer that reported none, not all of its output, or figures that cannot be read
 * (contract: money/estimate, money/unreadable-usage): input by its size, output by what was received. Where images or
 * speech are asked for, all output is that.
 * @param told the usage that it reported; null: none.
 * @param workedTokens output tokens estimated from the time that the model worked; those beyond the received output
 * count as hidden reasoning.
 */
export function estimateUsage(
  ask: Ask,
  told: UsageReport | null,
  outputBytes: number,
  workedTokens = 0,
): UsageReport {
  const unread = told?.unread ?? [];
  const known = told?.outputOpen || told?.soFar || told?.unread ? told.usage : null;
  const usage = known && !unread.includes('input') ? { ...known } : withInput(ask, known);
  if (!known || told?.outputOpen || told?.soFar || unread.includes('output')) {
    usage.output = Math.max(usage.output, estimateOutputTokens(outputBytes));
    if (ask.media?.unit === 'image') usage.imageOutput = usage.output;
    if (ask.operation.family === 'speech') usage.audioOutput = usage.output;
  }
  usage.images = told?.usage.images ?? 0;
  usage.characters = told?.usage.characters ?? ask.audio?.characters ?? 0;
  usage.audioMs = told?.usage.audioMs ?? ask.audio?.heardMs ?? 0;
  if (workedTokens > usage.output) {
    usage.reasoning += workedTokens - usage.output;
    usage.output = workedTokens;
  }
  const kept = ask.cache && { tokens: ask.cache.tokens ?? usage.input, seconds: ask.cache.seconds };
  return { serviceTier: null, nested: [], flags: [], ...told, ...(kept && { kept }), usage };
}

/** A usage with its input as the request weighs, less what of it was read under another class. */
function withInput({ weight }: Ask, known: Usage | null): Usage {
  const estimated = usageOf(estimatedInput(weight));
  if (known === null) return estimated;
  const read = known.cachedInput + known.cacheWrite5m + known.cacheWrite1h;
  return {
    ...known,
    input: Math.max(known.input, estimated.input - read),
    audioInput: Math.max(known.audioInput, Math.min(estimated.audioInput, estimated.input - read)),
    imageInput: Math.max(known.imageInput, Math.min(estimated.imageInput, estimated.input - read)),
  };
}
