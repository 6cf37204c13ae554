import type { LeaseBook } from '#lib/gateway/admission/lease-book';
import type { Free, LeaseRef } from '#lib/gateway/admission/money-store';
import type { Owner } from '#lib/gateway/admission/owner';
import type { AllowanceLimits } from '#lib/platform/env/part-settings';

/** Who is to pay for a call. */
export interface Payer {
  readonly workspaceId: string;
  /** null: no cap binds the call. */
  readonly cappedKeyId: string | null;
  readonly simulated: boolean;
}

interface Share extends Free {
  readonly knownMono: number;
}

interface Used {
  nano: bigint;
  realNano: bigint;
}

/** Older figures say nothing about what is there now. */
const KNOWN_MS = 3_600_000;

/** What this process may spend without the database, and what of it is spent. Times are monotonic ms. */
export class Allowance {
  readonly #leases: LeaseBook;
  readonly #owner: Pick<Owner, 'lives'>;
  readonly #limits: AllowanceLimits;
  readonly #shares = new Map<string, Share>();
  readonly #used = new Map<string, Used>();
  #totalNano = 0n;
  /** The most that lived at one time in the last hour: after an outage they come back one by one. */
  #owners = { most: 1n, seenMono: Number.NEGATIVE_INFINITY };
  #awaySinceMono: number | null = null;

  /**
   * @param leases of this process: once `owner` does not live, calls are admitted in them no more, and what is unspent
   * of them counts as known too.
   */
  constructor(
    leases: LeaseBook,
    owner: Pick<Owner, 'lives'>,
    limits: AllowanceLimits = { forMs: 0, boundNano: 0n },
  ) {
    this.#leases = leases;
    this.#owner = owner;
    this.#limits = limits;
  }

  /** Whether the operator grants one at all. */
  get granted(): boolean {
    return this.#limits.forMs > 0 && this.#limits.boundNano > 0n;
  }

  /** Whether the database is known to be away. */
  get away(): boolean {
    return this.#awaySinceMono !== null;
  }

  /** Whether calls are admitted on it now. */
  isOpen(nowMono: number): boolean {
    return this.#awaySinceMono !== null && nowMono < this.#awaySinceMono + this.#limits.forMs;
  }

  /** Notes what was free of a workspace or a key. @param owners processes that lived then, at least 1. */
  learn(subjectId: string, { freeNano, realNano }: Free, owners: number, nowMono: number): void {
    if (!this.granted) return;
    const seen = BigInt(Math.max(1, owners));
    if (seen >= this.#owners.most || nowMono - this.#owners.seenMono >= KNOWN_MS) {
      this.#owners = { most: seen, seenMono: nowMono };
    }
    const share = (nano: bigint) => (nano > 0n ? nano / this.#owners.most : 0n);
    this.#shares.set(subjectId, { freeNano: share(freeNano), realNano: share(realNano), knownMono: nowMono });
  }

  /** The database did not answer. @returns whether calls go on without it. */
  failed(nowMono: number): boolean {
    if (!this.granted) return false;
    this.#awaySinceMono ??= nowMono;
    return this.isOpen(nowMono);
  }

  /** The database answers again: what was known before is not spent twice. */
  answered(): void {
    if (this.#awaySinceMono === null) return;
    this.#awaySinceMono = null;
    this.#shares.clear();
  }

  /** Forgets what is too old to count. */
  sweep(nowMono: number): void {
    for (const [id, { knownMono }] of this.#shares) {
      if (nowMono - knownMono >= KNOWN_MS) this.#shares.delete(id);
    }
  }

  /** Why it does not cover this, for a message; null: it does. */
  lacks(payer: Payer, amountNano: bigint, nowMono: number): string | null {
    if (!this.isOpen(nowMono)) return 'it has been away for longer than calls go on without it';
    if (this.#totalNano + amountNano > this.#limits.boundNano / this.#owners.most) {
      return 'what this process may admit without it is used up';
    }
    const { workspaceId, cappedKeyId, simulated } = payer;
    const workspace = { kind: 'workspace', subjectId: workspaceId } as const;
    if (!this.#covers(workspace, amountNano, simulated, nowMono)) {
      return 'what this workspace may spend without it is used up or not known';
    }
    if (cappedKeyId === null) return null;
    // A cap makes no difference between simulated and other money.
    return this.#covers({ kind: 'key', subjectId: cappedKeyId }, amountNano, true, nowMono)
      ? null
      : 'what this API key may spend without it is used up or not known';
  }

  /** Counts `amountNano` more (or less, below zero) against the shares of a payer. */
  use({ workspaceId, cappedKeyId, simulated }: Payer, amountNano: bigint): void {
    this.#totalNano += amountNano;
    for (const id of cappedKeyId === null ? [workspaceId] : [workspaceId, cappedKeyId]) {
      const used = this.#used.get(id) ?? { nano: 0n, realNano: 0n };
      used.nano += amountNano;
      if (!simulated) used.realNano += amountNano;
      if (used.nano === 0n && used.realNano === 0n) this.#used.delete(id);
      else this.#used.set(id, used);
    }
  }

  #covers(subject: LeaseRef, amountNano: bigint, simulated: boolean, nowMono: number): boolean {
    const share = this.#shares.get(subject.subjectId);
    if (!share) return false;
    const used = this.#used.get(subject.subjectId) ?? { nano: 0n, realNano: 0n };
    const more = this.#leased(subject, simulated, nowMono);
    if (used.nano + amountNano > share.freeNano + more) return false;
    return simulated || used.realNano + amountNano <= share.realNano + more;
  }

  #leased({ kind, subjectId }: LeaseRef, simulated: boolean, nowMono: number): bigint {
    const lease = this.#owner.lives(nowMono) ? null : this.#leases.find(kind, subjectId);
    return lease && lease.usableNano > 0n && (simulated || !lease.simulated) ? lease.usableNano : 0n;
  }
}
