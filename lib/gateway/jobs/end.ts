import type { JobSight, JobState } from '#lib/core/facts/job';
import type { UsageBounds } from '#lib/core/metering/anomaly';
import type { CostLine } from '#lib/core/metering/cost-line';
import type { NamedPrice } from '#lib/core/metering/nested-prices';
import type { Price } from '#lib/core/metering/price-list';
import { priceReport, together } from '#lib/core/metering/price-report';
import {
  noUsage,
  totalUsage,
  type Usage,
  type UsageReport,
  type UsageSource,
} from '#lib/core/metering/usage';

/** How a job came to its end. */
export type Ending =
  /** The provider showed one of the three end states. */
  | { readonly kind: 'seen'; readonly sight: JobSight }
  /** The client had it deleted or cancelled, after its state was read as `before`. */
  | { readonly kind: 'removed'; readonly before: JobState; readonly sight: JobSight | null }
  /** The provider no longer knows it. */
  | { readonly kind: 'gone' }
  /** It never ended, and is no longer polled. */
  | { readonly kind: 'given-up' };

/** What the charge of a job depends on beside its end. */
export interface JobTerms {
  readonly holdNano: bigint;
  /** Its state when the client's DELETE or cancel went to the provider; null: none went. */
  readonly removing: JobState | null;
  readonly state: JobState;
  /** The price that its create call was admitted under; null: that version is gone. */
  readonly price: Price | null;
  /** Of the nested models that the create call named. */
  readonly nestedPrices: readonly NamedPrice[];
  /** null: the model has left the catalogue. */
  readonly model: UsageBounds | null;
  /** How many results were asked for, at least 1. */
  readonly choices: number;
  /** The service tier that the request asked for; null: none. */
  readonly serviceTier: string | null;
  /** The request declared tools that the provider runs. */
  readonly serverTools: boolean;
  /** The workspace never pays more than a hold. */
  readonly strict: boolean;
  /** Of a job that an own key made: its fee, hundredths of a percent. */
  readonly feePoints?: number | undefined;
}

/** What a settled job is. Money in nano-dollars. */
export interface JobEnd {
  readonly state: JobState;
  readonly costNano: bigint;
  readonly overHoldNano: bigint;
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  readonly lines: readonly CostLine[];
  readonly flags: readonly string[];
  /** As the provider named it at the end; null: it did not. */
  readonly serviceTier: string | null;
}

/** A model that is gone bounds no figure more tightly than the largest one would. */
const anyModel = { contextTokens: 10_000_000, maxOutputTokens: 1_000_000 };

/**
 * What a job is charged at its end (contract: jobs/charged-once, jobs/removal): completed, what the provider reports;
 * failed, nothing; removed, what it reports if it ran, else its hold. Pure.
 */
export function endOf(ending: Ending, terms: JobTerms): JobEnd {
  const judged = judge(ending, terms);
  const { state, owed } = judged;
  const flags = terms.feePoints === undefined ? judged.flags : together(judged.flags, ['own_key']);
  if (owed === null) return { ...free, state, flags };
  if (owed === 'hold') return byHold(state, terms, flags);
  return byReport(state, owed, terms, flags);
}

export function isEnd(state: JobState): boolean {
  return state !== 'queued' && state !== 'running';
}

const free = {
  costNano: 0n,
  overHoldNano: 0n,
  usage: noUsage,
  usageSource: 'none',
  lines: [],
  serviceTier: null,
} as const;

interface Judged {
  readonly state: JobState;
  /** What to charge by; null: nothing. */
  readonly owed: UsageReport | 'hold' | null;
  readonly flags: readonly string[];
}

function judge(ending: Ending, terms: JobTerms): Judged {
  switch (ending.kind) {
    case 'seen':
      return judgeSight(ending.sight, terms.removing);
    case 'removed':
      if (ending.sight && isEnd(ending.sight.state)) return judgeSight(ending.sight, ending.before);
      return { state: 'cancelled', owed: ran(ending.before) ? 'hold' : null, flags: [] };
    case 'gone':
      // Its removal may have succeeded though its answer was lost: then it is charged as removed.
      if (terms.removing) return { state: 'cancelled', owed: ran(terms.removing) ? 'hold' : null, flags: [] };
      return { state: 'failed', owed: null, flags: ['job_gone'] };
    case 'given-up':
      return { state: terms.state, owed: null, flags: [] };
  }
}

function judgeSight({ state, report }: JobSight, removing: JobState | null): Judged {
  if (state === 'failed') return { state, owed: null, flags: [] };
  // Usage that cannot be read is never free (contract: money/unreadable-usage).
  if (report?.unread) return { state, owed: 'hold', flags: report.flags };
  if (state === 'completed') return { state, owed: report ?? 'hold', flags: [] };
  // Cancelled by the provider itself, or before it ran: what it reports, else nothing.
  return { state, owed: report ?? (removing && ran(removing) ? 'hold' : null), flags: [] };
}

function ran(state: JobState): boolean {
  return state === 'running' || state === 'completed';
}

function byHold(state: JobState, { holdNano }: JobTerms, flags: readonly string[]): JobEnd {
  return {
    ...free,
    state,
    costNano: holdNano,
    usageSource: 'estimated',
    flags: [...flags, 'job_unreported'],
  };
}

function byReport(state: JobState, report: UsageReport, terms: JobTerms, flags: readonly string[]): JobEnd {
  const { holdNano, strict } = terms;
  if (!terms.price) {
    const held = byHold(state, terms, flags);
    return { ...held, usage: totalUsage(report), flags: [...held.flags, 'job_unpriced'] };
  }
  const { price, model, choices, serverTools, serviceTier, feePoints } = terms;
  const priced = priceReport(report, {
    model: model ?? anyModel,
    price,
    named: () => terms.nestedPrices,
    choices,
    serverTools,
    serviceTier,
    strict,
    holdNano,
    feePoints,
  });
  const { costNano, usage, lines } = priced;
  return {
    state,
    costNano,
    overHoldNano: costNano > holdNano ? costNano - holdNano : 0n,
    usage,
    usageSource: 'reported',
    lines,
    serviceTier: priced.serviceTier,
    flags: together(flags, priced.flags),
  };
}
