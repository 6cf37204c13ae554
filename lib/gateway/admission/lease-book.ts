import type { HeldLease, LeaseKind, LeaseState } from '#lib/gateway/admission/money-store';

const MINUTE_MS = 60_000;
/** After a recall nothing is leased for this long: the money is for the process that recalled it. */
const RECALL_PAUSE_MS = 2_000;
/** A lease that could not be enlarged is not asked for again before this. */
const REFUSED_PAUSE_MS = 1_000;

/**
 * What this process may spend of one workspace or one key without asking (contract: money/leases).
 * usable = granted − held − debt; granted here is never more than the database has.
 */
export class Lease {
  readonly kind: LeaseKind;
  readonly subjectId: string;
  readonly workspaceId: string;
  grantedNano = 0n;
  /** Holds of open calls. */
  heldNano = 0n;
  /** Charges of ended calls that are not posted yet. */
  debtNano = 0n;
  /** Open calls whose holds are booked in it. */
  calls = 0;
  /** Ended calls of the workspace with a charge that is not posted, whatever funded them. */
  undrained = 0;
  /** Whether the database may have a row of it. */
  rowKept = false;
  /** Memory was lowered, the database not yet. */
  owesReturn = false;
  /** It was granted out of simulated money too, for calls whose targets are all simulated (contract: money/simulated-money). */
  simulated = false;
  /** Someone asks for more of it now. */
  asking = false;
  usedMono: number;
  #lowNano = 0n;
  #pausedUntilMono = Number.NEGATIVE_INFINITY;
  #askAgainMono = Number.NEGATIVE_INFINITY;
  #peakNano = 0n;
  #earlierPeakNano = 0n;
  #peakSinceMono: number;

  constructor(kind: LeaseKind, subjectId: string, workspaceId: string, nowMono: number) {
    this.kind = kind;
    this.subjectId = subjectId;
    this.workspaceId = workspaceId;
    this.usedMono = nowMono;
    this.#peakSinceMono = nowMono;
  }

  get usableNano(): bigint {
    return this.grantedNano - this.heldNano - this.debtNano;
  }

  /** A hold fits, and something was available before it. */
  covers(holdNano: bigint): boolean {
    const usable = this.usableNano;
    return usable > 0n && usable >= holdNano;
  }

  /** Holds more for a call; whether the lease covers it was checked before. */
  hold(amountNano: bigint, nowMono: number): void {
    this.heldNano += amountNano;
    this.note(amountNano, nowMono);
  }

  /** Notes the size of a hold, in this lease or as a row, for the floor (contract: money/lease-floor). */
  note(amountNano: bigint, nowMono: number): void {
    this.usedMono = nowMono;
    this.#turnPeaks(nowMono);
    if (amountNano > this.#peakNano) this.#peakNano = amountNano;
  }

  /** Whether to ask for more in the background: half of the lease is used up. */
  low(nowMono: number): boolean {
    return (
      !this.asking &&
      nowMono >= this.#askAgainMono &&
      nowMono >= this.#pausedUntilMono &&
      this.usableNano < this.#lowNano
    );
  }

  /** The database is away, and is not asked for more with every call. */
  notAsked(nowMono: number): void {
    this.asking = false;
    this.grant(0n, nowMono);
  }

  /** The database granted more (0n: it did not). */
  grant(amountNano: bigint, nowMono: number, simulated = false): void {
    if (amountNano === 0n) {
      this.#askAgainMono = nowMono + REFUSED_PAUSE_MS;
      return;
    }
    this.simulated = simulated;
    this.grantedNano += amountNano;
    this.rowKept = true;
    const usable = this.usableNano;
    this.#lowNano = usable > 0n ? usable / 2n : 0n;
  }

  /** Keeps what is held and owed and no more; nothing new comes out of it until it is granted again. */
  shrink(): HeldLease {
    const keepNano = this.#keepNano();
    if (keepNano < this.grantedNano) this.grantedNano = keepNano;
    this.owesReturn = true;
    return { kind: this.kind, subjectId: this.subjectId, heldNano: keepNano };
  }

  /** The database has taken back what `shrink` let go. */
  returned(keptNano: bigint): void {
    this.owesReturn = false;
    if (keptNano === 0n) this.void();
  }

  pause(nowMono: number): void {
    this.#pausedUntilMono = nowMono + RECALL_PAUSE_MS;
  }

  /** The epoch that it was granted under is over. */
  void(): void {
    this.grantedNano = 0n;
    this.rowKept = false;
    this.owesReturn = false;
  }

  /** @param reclaim what is unspent goes back with this question: call `shrink` first. */
  state(nowMono: number, reclaim: boolean): LeaseState {
    this.#turnPeaks(nowMono);
    const { subjectId, usableNano, simulated } = this;
    let peakNano = this.#peakNano;
    if (this.#earlierPeakNano > peakNano) peakNano = this.#earlierPeakNano;
    return {
      subjectId,
      usableNano,
      keepNano: this.#keepNano(),
      peakNano,
      grantable: nowMono >= this.#pausedUntilMono,
      reclaim,
      simulated,
    };
  }

  #keepNano(): bigint {
    const keep = this.heldNano + this.debtNano;
    return keep > 0n ? keep : 0n;
  }

  /** The largest hold of the last minute: kept for one to two minutes, never less. */
  #turnPeaks(nowMono: number): void {
    const age = nowMono - this.#peakSinceMono;
    if (age < MINUTE_MS) return;
    this.#earlierPeakNano = age < 2 * MINUTE_MS ? this.#peakNano : 0n;
    this.#peakNano = 0n;
    this.#peakSinceMono = nowMono;
  }
}

/** The totals of the leases of one kind. */
export interface LeaseTotals {
  readonly kind: LeaseKind;
  readonly count: number;
  readonly grantedNano: bigint;
  readonly heldNano: bigint;
  /** Charges that are not posted yet. */
  readonly debtNano: bigint;
}

/** All leases of this process, and the money of calls that ended but are not posted. */
export class LeaseBook {
  readonly #workspaces = new Map<string, Lease>();
  readonly #keys = new Map<string, Lease>();

  workspace(id: string, nowMono: number): Lease {
    return this.#workspaces.get(id) ?? this.#open('workspace', id, id, nowMono);
  }

  key(id: string, workspaceId: string, nowMono: number): Lease {
    return this.#keys.get(id) ?? this.#open('key', id, workspaceId, nowMono);
  }

  find(kind: LeaseKind, id: string): Lease | null {
    return (kind === 'workspace' ? this.#workspaces : this.#keys).get(id) ?? null;
  }

  all(): Lease[] {
    return [...this.#workspaces.values(), ...this.#keys.values()];
  }

  /** One line a kind: a key's lease is a part of its caps, not money in addition to the workspace's. */
  totals(): LeaseTotals[] {
    return (['workspace', 'key'] as const).map((kind) => {
      const leases = this.all().filter((lease) => lease.kind === kind);
      const sum = (amount: 'grantedNano' | 'heldNano' | 'debtNano') =>
        leases.reduce((total, lease) => total + lease[amount], 0n);
      return {
        kind,
        count: leases.length,
        grantedNano: sum('grantedNano'),
        heldNano: sum('heldNano'),
        debtNano: sum('debtNano'),
      };
    });
  }

  /** Drops a lease that nothing is booked in. */
  drop(lease: Lease): void {
    const { heldNano, debtNano, calls, undrained, rowKept, asking } = lease;
    if (heldNano !== 0n || debtNano !== 0n || calls > 0 || undrained > 0 || rowKept || asking) return;
    (lease.kind === 'workspace' ? this.#workspaces : this.#keys).delete(lease.subjectId);
  }

  #open(kind: LeaseKind, id: string, workspaceId: string, nowMono: number): Lease {
    const lease = new Lease(kind, id, workspaceId, nowMono);
    (kind === 'workspace' ? this.#workspaces : this.#keys).set(id, lease);
    return lease;
  }
}
