import type { Ask } from '#lib/core/families/family';
import { estimatedInput } from '#lib/core/metering/estimate-input';
import { estimateOutputTokens } from '#lib/core/metering/estimate-output';
import type { Price } from '#lib/core/metering/price-list';
import { countedTokens, type Usage, type UsageReport, usageOf } from '#lib/core/metering/usage';

/**
 * Pictures are paid by the token or by the piece, never by both: where their tokens were reported and
 * have a price, the pieces are only counted for the call log.
 */
export function paidOnce(
  report: UsageReport,
  own: Price,
  nestedPrices: ReadonlyMap<string, Price>,
): UsageReport {
  const { usage, nested } = report;
  if (usage.images === 0 && nested.every((part) => part.usage.images === 0)) return report;
  return {
    ...report,
    usage: withoutPieces(usage, own),
    nested: nested.map((part) => ({
      ...part,
      usage: withoutPieces(part.usage, nestedPrices.get(part.upstreamModel) ?? own),
    })),
  };
}

function withoutPieces(usage: Usage, { base }: Price): Usage {
  const byToken = usage.output > 0 && (base.imageOutput ?? base.output) !== undefined;
  return byToken ? { ...usage, images: 0 } : usage;
}

/**
 * Whether a report contains only pictures although the price is by token: the answer then reported nothing
 * that can be charged, which is not the same as nothing.
 */
export function lacksTokens({ usage, nested, flags }: UsageReport, { base }: Price): boolean {
  // Figures that count as 0 were still reported.
  if (flags.length > 0) return false;
  const byToken = base.image === undefined && (base.output ?? base.imageOutput ?? base.input) !== undefined;
  return byToken && usage.images > 0 && nested.length === 0 && countedTokens(usage) + usage.cachedInput === 0;
}

/**
 * Estimates the usage of an answer that reported none, not all of its output, or figures that cannot be read
 * (contract: money/estimate, money/unreadable-usage): input by its size, output by what was received. Where images are
 * asked for, all output is image.
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
  }
  usage.images = told?.usage.images ?? 0;
  if (workedTokens > usage.output) {
    usage.reasoning += workedTokens - usage.output;
    usage.output = workedTokens;
  }
  return { serviceTier: null, nested: [], flags: [], ...told, usage };
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
