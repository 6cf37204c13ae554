import type { Usage } from '#lib/core/metering/usage';

/** What the log says of a flag: the provider's answer does not fit its entry in the catalogue. */
const messages = {
  unpriced_tier:
    'a provider answered at a service tier that has no price: charged at the base price; add the tier under serviceTiers in the catalogue',
  usage_anomaly:
    'a provider claimed more usage than its model can do: charged up to that; compare the claim with contextTokens and maxOutputTokens in the catalogue',
} as const;

type ReportedFlag = keyof typeof messages;
const reported = Object.keys(messages) as readonly ReportedFlag[];

/** The same flag of the same offer is written to the log once in this time, ms; the metric counts all. */
const SILENCE_MS = 60_000;

/** A charge with flags, of a call or a job. */
export interface FlaggedCharge {
  readonly callId: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly flags: readonly string[];
  /** As the answer names it; null: it names none, or is not known here. */
  readonly serviceTier: string | null;
  /** As claimed. */
  readonly usage: Usage;
}

interface Seen {
  readonly flag: ReportedFlag;
  readonly provider: string;
  readonly model: string;
  count: number;
  toldAtMs: number;
}

/** Counts flagged charges for metrics and writes them to the log (contract: call-log/flags). */
export class ChargeFlags {
  /** The catalogue bounds provider and model, so it bounds this. */
  readonly #seen = new Map<string, Seen>();
  readonly #warn: (fields: object, message: string) => void;

  constructor(warn: (fields: object, message: string) => void) {
    this.#warn = warn;
  }

  charged(charge: FlaggedCharge, nowMs: number): void {
    for (const flag of reported) {
      if (!charge.flags.includes(flag)) continue;
      const seen = this.#entry(flag, charge.provider ?? '', charge.model ?? '');
      seen.count += 1;
      if (nowMs >= seen.toldAtMs && nowMs - seen.toldAtMs < SILENCE_MS) continue;
      seen.toldAtMs = nowMs;
      this.#warn(fieldsOf(flag, charge), messages[flag]);
    }
  }

  counts(): readonly Pick<Seen, 'flag' | 'provider' | 'model' | 'count'>[] {
    return [...this.#seen.values()];
  }

  #entry(flag: ReportedFlag, provider: string, model: string): Seen {
    const key = `${flag} ${provider} ${model}`;
    const known = this.#seen.get(key);
    if (known) return known;
    const fresh = { flag, provider, model, count: 0, toldAtMs: Number.NEGATIVE_INFINITY };
    this.#seen.set(key, fresh);
    return fresh;
  }
}

function fieldsOf(
  flag: ReportedFlag,
  { callId, provider, model, serviceTier, usage }: FlaggedCharge,
): object {
  const fields = { callId, provider, model, flag };
  // The provider chose the name: only its start is repeated.
  if (flag === 'unpriced_tier') return { ...fields, serviceTier: serviceTier?.slice(0, 40) ?? null };
  return { ...fields, claimed: usage };
}
