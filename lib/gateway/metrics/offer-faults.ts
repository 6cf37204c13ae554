import type { Fault, FaultKind } from '#lib/core/families/reading/fault';

/** An error of a provider that is not the client's fault. */
export interface OfferFault {
  readonly callId: string;
  readonly provider: string;
  readonly model: string;
  readonly status: number;
  readonly fault: Fault;
}

interface Told {
  readonly provider: string;
  readonly model: string;
  readonly counts: Map<FaultKind, number>;
  /** The operator's fault that the log has; null: none, or the offer has answered since. */
  kind: FaultKind | null;
}

const advice: Partial<Record<FaultKind, string>> = {
  model_gone: 'correct its upstreamModel in the catalogue, or take the offer out',
  quota: 'add funds at the provider, or raise the limit of its account',
  region: 'use an address of the provider that serves this region',
  credential: 'check the credential and what its account may use',
};

/** Counts what offers fail with, and logs the operator's own faults (contract: routing/faults-shown). */
export class OfferFaults {
  /** The catalogue bounds provider and model, so it bounds this. */
  readonly #offers = new Map<string, Told>();
  readonly #warn: (fields: object, message: string) => void;

  constructor(warn: (fields: object, message: string) => void) {
    this.#warn = warn;
  }

  failed({ callId, provider, model, status, fault }: OfferFault): void {
    const { whose, kind } = fault;
    if (whose === 'client') return;
    const offer = this.#offer(provider, model);
    offer.counts.set(kind, (offer.counts.get(kind) ?? 0) + 1);
    if (whose !== 'operator' || offer.kind === kind) return;
    offer.kind = kind;
    const next = advice[kind] ?? 'check its address in the catalogue';
    this.#warn(
      { callId, provider, model, kind, status },
      `an offer fails by a fault of the operator's: ${next}`,
    );
  }

  /** The offer has answered: the operator's next fault is logged again. */
  answered(provider: string, model: string): void {
    const known = this.#offers.get(keyOf(provider, model));
    if (known) known.kind = null;
  }

  counts(): readonly {
    readonly provider: string;
    readonly model: string;
    readonly kind: FaultKind;
    readonly count: number;
  }[] {
    return [...this.#offers.values()].flatMap(({ provider, model, counts }) =>
      [...counts].map(([kind, count]) => ({ provider, model, kind, count })),
    );
  }

  #offer(provider: string, model: string): Told {
    const key = keyOf(provider, model);
    const known = this.#offers.get(key);
    if (known) return known;
    const fresh: Told = { provider, model, counts: new Map(), kind: null };
    this.#offers.set(key, fresh);
    return fresh;
  }
}

function keyOf(provider: string, model: string): string {
  return `${provider} ${model}`;
}
