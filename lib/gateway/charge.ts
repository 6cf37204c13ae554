import type { Call } from '#lib/gateway/call';
import { boundUsage } from '#lib/metering/anomaly';
import { estimateUsage, lacksTokens, paidOnce } from '#lib/metering/image-usage';
import type { Meter } from '#lib/metering/meter';
import { type NamedPrice, nestedPrices } from '#lib/metering/nested-prices';
import { price } from '#lib/metering/price';
import { noUsage, totalUsage, type UsageReport } from '#lib/metering/usage';
import type { Target } from '#lib/routing/target';

/**
 * What a call costs as far as its answer has been seen, written into the call (decisions §6 "What is
 * charged"): the reported usage; else an estimate, never above the hold; else nothing.
 */
export function chargeCall(call: Call, meter: Meter | null, sentWhole: boolean): void {
  const { target, ask, claim } = call;
  chargeNothing(call);
  call.flags = meter?.flags() ?? [];
  if (!target || !ask || !claim || ask.operation.steps !== 'generate') return;
  // A job is charged when it ends, whatever its create answer already tells.
  if (call.jobOpened) return;
  const report = meter?.report() ?? null;
  if (report && !report.outputOpen && !lacksTokens(report, target.price.price)) {
    priceReport(call, report, 'reported');
    return;
  }
  const outputBytes = meter?.outputBytes() ?? 0;
  if (!isOwed(call, outputBytes, sentWhole)) return;
  priceReport(call, estimateUsage(ask, report, outputBytes), 'estimated');
  if (call.costNano > call.holdNano) call.costNano = call.holdNano;
}

/** The call costs nothing, whatever was seen of an answer. */
export function chargeNothing(call: Call): void {
  call.usage = noUsage;
  call.usageSource = 'none';
  call.lines = [];
  call.costNano = 0n;
  call.uncappedNano = 0n;
}

/** Without reported usage: is anything owed? A 2xx that ended well or was left, or that broke after output. */
function isOwed(call: Call, outputBytes: number, sentWhole: boolean): boolean {
  const answered = call.status >= 200 && call.status < 300;
  if (call.endReason === 'client_gone') return sentWhole && (call.status === 0 || answered);
  if (!answered) return false;
  return call.endReason === 'completed' || outputBytes > 0;
}

function priceReport(call: Call, report: UsageReport, source: 'reported' | 'estimated'): void {
  const { target, ask, claim } = call;
  if (!target || !ask || !claim) return;
  const bounded = boundUsage(report, target.model, ask.choices);
  const nested = nestedPrices(report, report.nested.length === 0 ? [] : namedPrices(target));
  const own = target.price.price;
  const priced = price(paidOnce(bounded.report, own, nested), own, nested);
  call.report = report;
  call.usage = totalUsage(report);
  call.usageSource = source;
  call.lines = priced.lines;
  call.costNano = priced.costNano;
  call.uncappedNano = priced.costNano;
  call.flags = together(call.flags, report.flags, bounded.flags, priced.flags);
  if (call.snapshot?.workspace.strict && call.costNano > call.holdNano) {
    call.costNano = call.holdNano;
    call.flags = [...call.flags, 'strict_capped'];
  }
}

const none: readonly string[] = [];

/** Every flag once; of most calls there is none. */
function together(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.some((list) => list.length > 0) ? [...new Set(lists.flat())] : none;
}

/** Every name by which an answer of this target may call a model. */
function namedPrices({ offer, price, nested }: Target): NamedPrice[] {
  const own: NamedPrice = [offer.upstreamModel, price.price];
  const others = [...(nested ?? [])].flatMap(([slug, one]): NamedPrice[] => [
    [one.upstreamModel, one.price.price],
    [slug, one.price.price],
  ]);
  return [...others, own];
}
