import type { Fault, FaultKind } from '#lib/core/families/reading/fault';

/** An error of a provider that is not the client's fault. */
export interface OfferFault {
  readonly callId: string;
  readonly provider: string;
  readonly model: string;
  /** The name of the credential. */
  readonly credential: string;
  readonly status: number;
  readonly fault: Fault;
}

/** An offer, and the credential by which it was called. */
type Called = Pick<OfferFault, 'provider' | 'model' | 'credential'>;

interface Told extends Called {
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
  /** The catalogue bounds provider, model and credential, so it bounds this. */
  readonly #offers = new Map<string, Told>();
  readonly #warn: (fields: object, message: string) => void;

  constructor(warn: (fields: object, message: string) => void) {
    this.#warn = warn;
  }

  failed({ callId, provider, model, credential, status, fault }: OfferFault): void {
    const { whose, kind } = fault;
    if (whose === 'client') return;
    const offer = this.#offer({ provider, model, credential });
    offer.counts.set(kind, (offer.counts.get(kind) ?? 0) + 1);
    if (whose !== 'operator' || offer.kind === kind) return;
    offer.kind = kind;
    const next = advice[kind] ?? 'check its address in the catalogue';
    this.#warn(
      { callId, provider, model, credential, kind, status },
      `an offer fails by a fault of the operator's: ${next}`,
    );
  }

  /** The offer has answered: the operator's next fault is logged again. */
  answered(called: Called): void {
    const known = this.#offers.get(keyOf(called));
    if (known) known.kind = null;
  }

  counts(): readonly {
    readonly provider: string;
    readonly model: string;
    readonly credential: string;
    readonly kind: FaultKind;
    readonly count: number;
  }[] {
    return [...this.#offers.values()].flatMap(({ provider, model, credential, counts }) =>
      [...counts].map(([kind, count]) => ({ provider, model, credential, kind, count })),
    );
  }

  #offer(called: Called): Told {
    const key = keyOf(called);
    const known = this.#offers.get(key);
    if (known) return known;
    const fresh: Told = { ...called, counts: new Map(), kind: null };
    this.#offers.set(key, fresh);
    return fresh;
  }
}

function keyOf({ provider, model, credential }: Called): string {
  return `${provider} ${model} ${credential}`;
}
