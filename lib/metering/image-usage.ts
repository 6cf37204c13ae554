import { estimatedInput } from '#lib/admission/estimate';
import type { Ask } from '#lib/families/family';
import { estimateOutputTokens } from '#lib/metering/estimate-output';
import type { Price } from '#lib/metering/price-list';
import { countedTokens, type Usage, type UsageReport, usageOf } from '#lib/metering/usage';

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
 * Whether a report is of pictures alone where the price is by token: the answer then reported nothing
 * that can be charged, which is not the same as nothing.
 */
export function lacksTokens({ usage, nested, flags }: UsageReport, { base }: Price): boolean {
  // Figures that count as 0 have been reported all the same.
  if (flags.length > 0) return false;
  const byToken = base.image === undefined && (base.output ?? base.imageOutput ?? base.input) !== undefined;
  return byToken && usage.images > 0 && nested.length === 0 && countedTokens(usage) + usage.cachedInput === 0;
}

/**
 * Estimates the usage of an answer that reported none, or not all of its output (contract: money/estimate): input
 * by its size, output by what was received. Where images are asked for, all output is image.
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
  const open = told?.outputOpen || told?.soFar ? told.usage : null;
  const usage = { ...(open ?? usageOf(estimatedInput(ask.weight))) };
  usage.output = Math.max(usage.output, estimateOutputTokens(outputBytes));
  if (ask.media?.unit === 'image') usage.imageOutput = usage.output;
  usage.images = told?.usage.images ?? 0;
  if (workedTokens > usage.output) {
    usage.reasoning += workedTokens - usage.output;
    usage.output = workedTokens;
  }
  return { serviceTier: null, nested: [], flags: [], ...told, usage };
}
