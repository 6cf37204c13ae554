import type { CredentialLimits } from '#lib/core/facts/credential';
import { type Counted, LimitBook } from '#lib/gateway/limits/pure/limit-book';
import { type CallWeight, type LimitWaits, noLimits, noWaits } from '#lib/gateway/limits/pure/limits';
import type { SharedClaim, SharedLimits } from '#lib/gateway/limits/shared-limits';
import type { Clock } from '#lib/platform/clock';

/** Counters that count nothing are dropped this often, ms. */
const SWEEP_MS = 60_000;

/** An attempt counts against the limits of its credential. */
export interface CredentialUse {
  /** The attempt is over. @param tokens that count in the end; null: the estimate stays. Idempotent. */
  end(tokens: number | null): void;
  /** The attempt was not made. */
  undo(): void;
}

/** A credential is at its limit. */
export interface AtLimit {
  /** Until it may be used, ms; at least 1. */
  readonly waitMs: number;
}

/**
 * The limits that credentials have of their own (contract: limits/credentials), counted by the same stores and rules as
 * those of keys: a credential is to its provider what a key is to its workspace, which has no limits here.
 */
export class CredentialCounts {
  readonly #clock: Clock;
  readonly #shared: SharedLimits | null;
  readonly #book = new LimitBook();
  #sweptMono = 0;

  /** @param shared limits that other processes share; null: only this process counts. */
  constructor(clock: Clock, shared: SharedLimits | null) {
    this.#clock = clock;
    this.#shared = shared;
  }

  /**
   * Counts an attempt by a credential.
   * @param tokens as the call was admitted with; null: tokens do not count for it.
   * @returns a promise only if permits at hand cannot decide.
   */
  take(
    limits: CredentialLimits,
    tokens: number | null,
  ): CredentialUse | AtLimit | Promise<CredentialUse | AtLimit> {
    const weight: CallWeight = { requests: 1, tokens, slot: false };
    if (this.#shared === null) return this.#decide(limits, weight, null);
    const { id, stored, providerId } = limits;
    const asked = this.#shared.claim(weight, providerId, [
      { id, limits: stored },
      { id: providerId, limits: noLimits },
    ]);
    if (!(asked instanceof Promise)) return this.#decide(limits, weight, asked);
    return asked.then((shared) => this.#decide(limits, weight, shared));
  }

  #decide(
    { id, stored }: CredentialLimits,
    weight: CallWeight,
    shared: SharedClaim | null,
  ): CredentialUse | AtLimit {
    const nowMono = this.#clock.mono();
    this.#sweep(nowMono);
    if (shared?.answer.kind === 'refused') return atLimit(shared.answer.waits[0] ?? noWaits);
    const counters = this.#book.of(id, shared?.bounds(stored) ?? stored);
    if (!counters.fits(weight, nowMono)) {
      shared?.end(0, true);
      return atLimit(counters.waits(weight, nowMono));
    }
    shared?.admit();
    return this.#use(counters.book(weight, nowMono), weight, shared);
  }

  #use(counted: Counted, weight: CallWeight, shared: SharedClaim | null): CredentialUse {
    let over = false;
    const end = (actual: number, undone: boolean) => {
      if (over) return;
      over = true;
      counted.counters.end(counted, { weight, actual, undone }, this.#clock.mono());
      shared?.end(actual, undone);
    };
    return {
      end: (tokens) => end(tokens ?? weight.tokens ?? 0, false),
      undo: () => end(0, true),
    };
  }

  #sweep(nowMono: number): void {
    if (nowMono - this.#sweptMono < SWEEP_MS) return;
    this.#sweptMono = nowMono;
    this.#book.sweep(nowMono);
  }
}

function atLimit({ rpmMs, tpmMs }: LimitWaits): AtLimit {
  return { waitMs: Math.max(1, Math.ceil(Math.max(rpmMs, tpmMs))) };
}
