import type { LeaseBook } from '#lib/admission/funds/lease-book';
import type { MoneyStore } from '#lib/admission/money-store';
import type { Clock } from '#lib/clock';

/** Others may close an owner 45 s after its last heartbeat; we stop trusting our leases before that. */
const TRUST_MS = 40_000;
const BEAT_MS = 10_000;

/** This process's right to spend from its leases: a heartbeat, and a new epoch when it was lost. */
export class Owner {
  readonly #clock: Clock;
  readonly #money: MoneyStore;
  readonly #leases: LeaseBook;
  #trustedUntilMs = Number.NEGATIVE_INFINITY;
  #beatAtMs = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | null = null;
  #life = 0;

  constructor(clock: Clock, money: MoneyStore, leases: LeaseBook) {
    this.#clock = clock;
    this.#money = money;
    this.#leases = leases;
  }

  /** Counts the epochs of this process. */
  get life(): number {
    return this.#life;
  }

  /** Whether leases in memory may be spent: a process that slept must ask first. Monotonic ms. */
  lives(nowMs: number): boolean {
    return nowMs < this.#trustedUntilMs;
  }

  /** Whether the next heartbeat is due. */
  due(nowMs: number): boolean {
    return nowMs >= this.#beatAtMs + BEAT_MS;
  }

  /** @param closed another process was seen to have closed this owner: its leases are void. */
  ensure(closed: boolean): Promise<void> {
    if (closed) return this.#alone(() => this.register(false));
    return this.lives(this.#clock.mono()) ? Promise.resolve() : this.beat();
  }

  /** Renews the owner, in a new epoch when it was closed. Calls at one time share one renewal. */
  beat(): Promise<void> {
    return this.#alone(async () => {
      const sentMs = this.#clock.mono();
      if (await this.#money.beat()) this.#trust(sentMs);
      else await this.register(false);
    });
  }

  /** Enters a new epoch: nothing that was leased before counts. */
  async register(fresh: boolean): Promise<void> {
    this.#trustedUntilMs = Number.NEGATIVE_INFINITY;
    const sentMs = this.#clock.mono();
    await this.#money.register(fresh);
    this.#life++;
    for (const lease of this.#leases.all()) lease.void();
    this.#trust(sentMs);
  }

  #trust(sentMs: number): void {
    this.#beatAtMs = sentMs;
    this.#trustedUntilMs = sentMs + TRUST_MS;
  }

  #alone(work: () => Promise<void>): Promise<void> {
    this.#renewing ??= work().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }
}
