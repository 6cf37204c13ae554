import type { Catalogue } from '#lib/core/facts/snapshot';
import { estimateWorkedTokens } from '#lib/core/metering/estimate-output';
import { estimateUsage, lacksTokens } from '#lib/core/metering/image-usage';
import type { Meter } from '#lib/core/metering/meter';
import type { NamedPrice } from '#lib/core/metering/nested-prices';
import { priceReport, together } from '#lib/core/metering/price-report';
import type { UsageReport } from '#lib/core/metering/usage';
import type { AnsweredCall, Call } from '#lib/gateway/flow/call/call';
import { type Charge, noCharge } from '#lib/gateway/flow/call/charge';
import type { Outcome } from '#lib/gateway/flow/call/outcome';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { healthIdOf } from '#lib/gateway/routing/pure/pool';
import type { Target } from '#lib/gateway/routing/pure/target';
import { offeredPrices } from '#lib/gateway/snapshot/catalogue';
import type { Exchange } from '#lib/gateway/upstream/exchange';

/**
 * How far an answer was seen. `open`: it goes on; `ended`: the provider ended it, successfully or with an error event;
 * `broken`: the provider's connection broke; `closed`: the gateway closed the connection early, because the client had
 * left or a time limit expired.
 */
export type AnswerSeen =
  | { readonly end: 'open' | 'ended' | 'broken' }
  | {
      readonly end: 'closed';
      /** The whole request had been sent: the provider was working on it. */
      readonly sentWhole: boolean;
      /** Estimated output tokens of a model with hidden reasoning by then; else 0. */
      readonly workedTokens: number;
    };

/**
 * Describes an answer whose connection the gateway closed before its end. A model with hidden reasoning is assumed to
 * have produced output for as long as the provider worked, at the speed observed on its offer, up to the output
 * budget or the model's maximum, times `n` (contract: money/hidden-reasoning).
 * @param exchange null: no attempt was under way.
 */
export function closedEarly(runtime: Runtime, call: AnsweredCall, exchange: Exchange | null): AnswerSeen {
  const { target, ask } = call;
  const sentWhole = exchange?.sentWhole ?? false;
  if (!target.model.reasoning || !exchange) return { end: 'closed', sentWhole, workedTokens: 0 };
  const { maxOutputTokens } = target.model;
  const budget = (ask.budgetIsNested ? null : ask.budget) ?? target.injectBudget ?? maxOutputTokens;
  const most = maxOutputTokens > 0 ? Math.min(budget, maxOutputTokens) : budget;
  const workedTokens = estimateWorkedTokens({
    workedMs: exchange.workedMs,
    tokensPerSecond: runtime.health.of(healthIdOf(target.offer, target.credential)).tokensPerSecond.value,
    mostTokens: most * ask.choices,
  });
  return { end: 'closed', sentWhole, workedTokens };
}

/** What a charge is made of. */
type ChargedMeter = Pick<Meter, 'report' | 'outputBytes' | 'failed' | 'flags'>;

/**
 * Writes into the call what it costs as far as its answer has been seen (contract: money/charge, money/estimate): the
 * reported usage; else an estimate, never above the hold; else nothing.
 */
export function chargeCall(call: AnsweredCall, meter: ChargedMeter | null, seen: AnswerSeen): void {
  call.outcome.charge = chargeOf(call, meter, seen, meter?.flags ?? noFlags);
}

function chargeOf(
  call: AnsweredCall,
  meter: ChargedMeter | null,
  seen: AnswerSeen,
  flags: readonly string[],
): Charge {
  const { ask, target } = call;
  const nothing = flags.length === 0 ? noCharge : { ...noCharge, flags };
  // A job is charged when it ends, whatever its create answer already reports.
  if (ask.operation.steps !== 'generate' || call.outcome.jobOpened) return nothing;
  const report = meter?.report() ?? null;
  const workedTokens = seen.end === 'closed' ? seen.workedTokens : 0;
  const told = report && !report.outputOpen && !report.unread && !lacksTokens(report, target.price.price);
  if (told && !(report.soFar && workedTokens > report.usage.output)) {
    return chargeReport(call, report, 'reported', flags);
  }
  const outputBytes = meter?.outputBytes ?? 0;
  // Usage that cannot be read was still reported (contract: money/unreadable-usage).
  const owed = report?.unread !== undefined || isOwed(call, seen, outputBytes, meter?.failed ?? false);
  if (!owed) return nothing;
  const estimate = estimateUsage(ask, report, outputBytes, workedTokens);
  const charge = chargeReport(call, estimate, 'estimated', flags);
  return charge.costNano > call.outcome.holdNano ? { ...charge, costNano: call.outcome.holdNano } : charge;
}

/** The call costs nothing, whatever was seen of an answer; its flags stay. */
export function chargeNothing(call: Call): void {
  const { report, flags } = call.outcome.charge;
  call.outcome.charge = { ...noCharge, report, flags };
}

/**
 * Charges an estimate in full once its hold has grown to it: it is then no longer capped.
 * @param wantedNano the whole estimate, nano-dollars.
 */
export function chargeInFull(outcome: Pick<Outcome, 'holdNano' | 'charge'>, wantedNano: bigint): void {
  const flags = outcome.charge.flags.filter((flag) => flag !== 'strict_capped');
  outcome.holdNano = wantedNano;
  outcome.charge = { ...outcome.charge, costNano: wantedNano, flags };
}

/** Without reported usage: whether anything is owed (contract: money/free, money/client-gone). */
function isOwed(
  { outcome: { status, gone } }: Call,
  seen: AnswerSeen,
  outputBytes: number,
  failed: boolean,
): boolean {
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

function chargeReport(
  call: AnsweredCall,
  report: UsageReport,
  usageSource: 'reported' | 'estimated',
  flags: readonly string[],
): Charge {
  const { target, ask, snapshot, catalogue } = call;
  const { holdNano } = call.outcome;
  const priced = priceReport(report, {
    model: target.model,
    mostAudioMs: ask.audio?.mostMs,
    price: target.price.price,
    named: () => namedPrices(target, catalogue),
    choices: ask.choices,
    serverTools: ask.serverTools === true,
    serviceTier: ask.serviceTier,
    strict: snapshot.workspace.strict,
    holdNano,
    feePoints: target.credential.own?.feePoints,
  });
  const { usage, lines, costNano, uncappedNano } = priced;
  return {
    usage,
    usageSource,
    report,
    lines,
    costNano,
    uncappedNano,
    flags: together(flags, priced.flags),
  };
}

const noFlags: readonly string[] = [];

/**
 * The names by which an answer of this target may refer to a model: those in the request, and those that the provider
 * chose, such as a tool's default model.
 */
function namedPrices({ offer, price, nested }: Target, catalogue: Catalogue): NamedPrice[] {
  const named = [...(nested ?? [])].flatMap(([slug, one]): NamedPrice[] => [
    [one.upstreamModel, one.price.price],
    [slug, one.price.price],
  ]);
  const offered = offeredPrices(catalogue, offer.provider.id);
  return [...named, [offer.upstreamModel, price.price], ...offered];
}
