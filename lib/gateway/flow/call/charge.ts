import type { CostLine } from '#lib/core/metering/cost-line';
import { noUsage, type Usage, type UsageReport, type UsageSource } from '#lib/core/metering/usage';

/** What a call costs as far as its answer has been seen. */
export interface Charge {
  readonly usage: Usage;
  readonly usageSource: UsageSource;
  /** What the provider reported, or the estimate in its place; null: neither. */
  readonly report: UsageReport | null;
  readonly lines: readonly CostLine[];
  readonly costNano: bigint;
  /** The price before the hold capped it: what the hold must grow to. */
  readonly uncappedNano: bigint;
  readonly flags: readonly string[];
}

export const noCharge: Charge = {
  usage: noUsage,
  usageSource: 'none',
  report: null,
  lines: [],
  costNano: 0n,
  uncappedNano: 0n,
  flags: [],
};
