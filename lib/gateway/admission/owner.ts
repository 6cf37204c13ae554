import type { LeaseBook } from '#lib/gateway/admission/lease-book';
import type { MoneyStore } from '#lib/gateway/admission/money-store';
import type { Clock } from '#lib/platform/clock';

/** Others may close an owner 45 s after its last heartbeat; we stop trusting our leases before that. */
const TRUST_MS = 40_000;
const BEAT_MS = 10_000;

/** This process's right to spend from its leases: a heartbeat, and a new epoch when it was lost. */
export class Owner {
  readonly #clock: Clock;
  readonly #money: MoneyStore;
  readonly #leases: LeaseBook;
  #trustedUntilMono = Number.NEGATIVE_INFINITY;
  #beatAtMono = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | null = null;
  #epoch = 0;

  constructor(clock: Clock, money: MoneyStore, leases: LeaseBook) {
    this.#clock = clock;
    this.#money = money;
    this.#leases = leases;
  }

  /** How often this process has registered. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether leases in memory may be spent: a process that slept must ask first. Monotonic ms. */
  lives(nowMono: number): boolean {
    return nowMono < this.#trustedUntilMono;
  }

  /** Whether the next heartbeat is due. */
  due(nowMono: number): boolean {
    return nowMono >= this.#beatAtMono + BEAT_MS;
  }

  /** @param closed another process was seen to have closed this owner: its leases are void. */
  ensure(closed: boolean): Promise<void> {
    if (closed) return this.#alone(() => this.register(false));
    return this.lives(this.#clock.mono()) ? Promise.resolve() : this.beat();
  }

  /** Renews the owner, in a new epoch when it was closed. Calls at one time share one renewal. */
  beat(): Promise<void> {
    return this.#alone(async () => {
      const sentMono = this.#clock.mono();
      if (await this.#money.beat()) this.#trust(sentMono);
      else await this.register(false);
    });
  }

  /** A new epoch, once the database answers: until then what is leased stays as it is. */
  startOver(): Promise<void> {
    return this.#alone(async () => {
      await this.#money.beat();
      await this.register(false);
    });
  }

  /** Enters a new epoch: nothing that was leased before counts. */
  async register(fresh: boolean): Promise<void> {
    this.#trustedUntilMono = Number.NEGATIVE_INFINITY;
    const sentMono = this.#clock.mono();
    await this.#money.register(fresh);
    this.#epoch++;
    for (const lease of this.#leases.all()) lease.void();
    this.#trust(sentMono);
  }

  #trust(sentMono: number): void {
    this.#beatAtMono = sentMono;
    this.#trustedUntilMono = sentMono + TRUST_MS;
  }

  #alone(work: () => Promise<void>): Promise<void> {
    this.#renewing ??= work().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }
}
