import type { Call } from '#lib/gateway/call';
import { boundUsage } from '#lib/metering/anomaly';
import { estimateUsage, lacksTokens, paidOnce } from '#lib/metering/image-usage';
import type { Meter } from '#lib/metering/meter';
import { type NamedPrice, nestedPrices } from '#lib/metering/nested-prices';
import { atTierAsked, price } from '#lib/metering/price';
import { noUsage, totalUsage, type UsageReport } from '#lib/metering/usage';
import type { Target } from '#lib/routing/target';
import { offeredPrices } from '#lib/snapshot/offered-prices';
import type { Catalogue } from '#lib/snapshot/snapshot';

/**
 * How far an answer was seen. `open`: it goes on; `ended`: the provider ended it, successfully or with an error event;
 * `broken`: the provider's connection broke; `closed`: the gateway closed the connection early, because the client had
 * left or a time limit expired.
 */
export type Seen =
  | { readonly end: 'open' | 'ended' | 'broken' }
  | {
      readonly end: 'closed';
      /** The whole request had been sent: the provider was working on it. */
      readonly sentWhole: boolean;
      /** Estimated output tokens of a model with hidden reasoning by then; else 0. */
      readonly workedTokens: number;
    };

/**
 * What a call costs as far as its answer has been seen, written into the call
 * (contract: money/charge, money/estimate): the reported usage; else an estimate, never above the hold; else nothing.
 */
export function chargeCall(call: Call, meter: Meter | null, seen: Seen): void {
  const { target, ask, claim } = call;
  chargeNothing(call);
  call.flags = meter?.flags() ?? [];
  if (!target || !ask || !claim || ask.operation.steps !== 'generate') return;
  // A job is charged when it ends, whatever its create answer already tells.
  if (call.jobOpened) return;
  const report = meter?.report() ?? null;
  const workedTokens = seen.end === 'closed' ? seen.workedTokens : 0;
  const told = report && !report.outputOpen && !lacksTokens(report, target.price.price);
  if (told && !(report.soFar && workedTokens > report.usage.output)) {
    priceReport(call, report, 'reported');
    return;
  }
  const outputBytes = meter?.outputBytes() ?? 0;
  if (!isOwed(call, seen, outputBytes, meter?.failed() ?? false)) return;
  priceReport(call, estimateUsage(ask, report, outputBytes, workedTokens), 'estimated');
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

/**
 * Charges an estimate in full once its hold has grown to it: it is then no longer capped.
 * @param wantedNano the whole estimate, nano-dollars.
 */
export function chargeInFull(call: Pick<Call, 'holdNano' | 'costNano' | 'flags'>, wantedNano: bigint): void {
  call.holdNano = wantedNano;
  call.costNano = wantedNano;
  call.flags = call.flags.filter((flag) => flag !== 'strict_capped');
}

/** Without reported usage: whether anything is owed (contract: money/free, money/client-gone). */
function isOwed({ status, gone }: Call, seen: Seen, outputBytes: number, failed: boolean): boolean {
  const answered = status >= 200 && status < 300;
  switch (seen.end) {
    case 'open':
      return answered;
    case 'ended':
      return answered && (!failed || outputBytes > 0);
    case 'broken':
      return answered && outputBytes > 0;
    case 'closed':
      // A client that left owes the call once the provider had the whole request.
      return gone ? seen.sentWhole && (answered || status === 0) : answered && outputBytes > 0;
  }
}

function priceReport(call: Call, report: UsageReport, source: 'reported' | 'estimated'): void {
  const { target, ask, claim } = call;
  if (!target || !ask || !claim) return;
  const bounded = boundUsage(report, target.model, ask.choices, ask.serverTools === true);
  const nested = nestedPrices(report, report.nested.length === 0 ? [] : namedPrices(target, call.catalogue));
  const own = target.price.price;
  const charged = atTierAsked(paidOnce(bounded.report, own, nested), ask.serviceTier);
  const priced = price(charged, own, nested);
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

/** The union of the flags; most calls have none. */
function together(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.some((list) => list.length > 0) ? [...new Set(lists.flat())] : none;
}

/**
 * The names by which an answer of this target may refer to a model: those in the request, and those that the provider
 * chose, such as a tool's default model.
 */
function namedPrices({ offer, price, nested }: Target, catalogue: Catalogue | null): NamedPrice[] {
  const named = [...(nested ?? [])].flatMap(([slug, one]): NamedPrice[] => [
    [one.upstreamModel, one.price.price],
    [slug, one.price.price],
  ]);
  const offered = catalogue === null ? [] : offeredPrices(catalogue, offer.provider.id);
  return [...named, [offer.upstreamModel, price.price], ...offered];
}
