import type { Allowance, Payer } from '#lib/gateway/admission/allowance';
import type { Claim, ClaimEnd, Posted } from '#lib/gateway/admission/claim';
import type { Lease, LeaseBook } from '#lib/gateway/admission/lease-book';
import type { Counted, Counters } from '#lib/gateway/limits/pure/limit-book';
import type { CallWeight } from '#lib/gateway/limits/pure/limits';
import type { SharedClaim } from '#lib/gateway/limits/shared-limits';
import { CallTable } from '#lib/platform/call-table';

/** Every counter and lease that an admitted call is booked in, so that its end undoes exactly that. */
export interface AdmittedCall {
  readonly claim: Claim;
  readonly weight: CallWeight;
  /** Where it is counted: for its key and for its workspace. */
  readonly counted: readonly Counted[];
  /** The same in limits that processes share: by its claim, and by its place. */
  readonly shared: readonly SharedClaim[];
  /** Leases that its hold is booked in: the workspace's and, with caps, the key's; none for the other ways of funding. */
  readonly leases: readonly Lease[];
  /** What it uses of the allowance for an outage; null: nothing. */
  share: ShareUse | null;
  /** As it has grown. */
  holdNano: bigint;
  /** Its client has left and its slots are freed. */
  left: boolean;
  /** The drain was faster than the release. */
  posted: boolean;
}

/** A call that was admitted without the database (contract: money/outage-allowance). */
export interface ShareUse {
  readonly allowance: Allowance;
  readonly payer: Payer;
}

/** The counters in which a call holds an RPM unit and slots until its claim. */
interface Place {
  readonly counters: readonly Counters[];
  readonly shared: SharedClaim | null;
}

interface Debt {
  readonly workspaceId: string;
  readonly chargeNano: bigint;
  readonly leases: readonly Lease[];
  readonly share: ShareUse | null;
  /** Counts what is not posted. */
  readonly workspaceLease: Lease | null;
}

/** The admitted calls of this process, until their charge is posted. Times are monotonic ms. */
export class OpenCalls {
  readonly #leases: LeaseBook;
  readonly #running = new CallTable<AdmittedCall>();
  readonly #debts = new CallTable<Debt>();
  readonly #places = new CallTable<Place>();

  constructor(leases: LeaseBook) {
    this.#leases = leases;
  }

  /** How many have been admitted and not released. */
  get running(): number {
    return this.#running.size;
  }

  place(callId: string, place: Place): void {
    for (const counters of place.counters) counters.place();
    this.#places.set(callId, place);
  }

  /** Gives up the place of a call that has ended without a claim. */
  vacate(callId: string): void {
    this.takeOver(callId)?.end(0, true);
  }

  /** The claim of a call takes its place over. @returns its part in shared limits. */
  takeOver(callId: string): SharedClaim | null {
    const place = this.#places.get(callId);
    if (!place) return null;
    this.#places.delete(callId);
    for (const counters of place.counters) counters.vacate();
    return place.shared;
  }

  open(call: AdmittedCall, nowMono: number): void {
    for (const lease of call.leases) {
      lease.hold(call.holdNano, nowMono);
      lease.calls++;
    }
    use(call.share, call.holdNano);
    this.#running.set(call.claim.callId, call);
  }

  /** How much a running call's hold lacks; null when it has ended. */
  missing(callId: string, holdNano: bigint): bigint | null {
    const call = this.#running.get(callId);
    return call ? holdNano - call.holdNano : null;
  }

  /** Whether caps of its key count for a running call: without a lease of the key they may. */
  capped(callId: string): boolean {
    const call = this.#running.get(callId);
    return call !== undefined && call.leases.length !== 1;
  }

  /** Whether a running call was admitted without the database: no row of its hold is there. */
  usesShare(callId: string): boolean {
    return (this.#running.get(callId)?.share ?? null) !== null;
  }

  /** The running calls that were admitted without the database. */
  sharing(): AdmittedCall[] {
    return [...this.#running.values()].filter(({ share }) => share !== null);
  }

  /** Such a call has its row now. @returns false when it has ended meanwhile. */
  hasRow(callId: string): boolean {
    const call = this.#running.get(callId);
    if (!call) return false;
    use(call.share, -call.holdNano);
    call.share = null;
    return true;
  }

  /** Raises a hold: inside its leases or its share when they cover it; a row was raised by the database. */
  grow(callId: string, moreNano: bigint, nowMono: number): boolean {
    const call = this.#running.get(callId);
    if (!call) return false;
    const { leases, share } = call;
    if (share && share.allowance.lacks(share.payer, moreNano, nowMono) !== null) return false;
    if (leases.some((lease) => !lease.covers(moreNano))) return false;
    for (const lease of leases) lease.hold(moreNano, nowMono);
    use(share, moreNano);
    call.holdNano += moreNano;
    return true;
  }

  /** Frees the slots of a running call whose client has left; its hold and tokens stay. */
  leave(callId: string): void {
    const call = this.#running.get(callId);
    if (call) this.#free(call);
  }

  #free(call: AdmittedCall): void {
    if (call.left) return;
    call.left = true;
    if (call.weight.slot) for (const { counters } of call.counted) counters.freeSlot();
    for (const shared of call.shared) shared.leave();
  }

  /** Ends a call once: slot and tokens are free, its hold becomes a debt. @returns the call; null the second time. */
  release(callId: string, outcome: ClaimEnd, nowMono: number): AdmittedCall | null {
    const call = this.#running.get(callId);
    if (!call) return null;
    this.#running.delete(callId);
    const { claim, weight, leases, share } = call;
    const { undone = false, chargeNano } = outcome;
    const actual = undone ? 0 : (outcome.tokens ?? claim.tokens);
    this.#free(call);
    for (const counted of call.counted) counted.counters.end(counted, { weight, actual, undone }, nowMono);
    for (const shared of call.shared) shared.end(actual, undone);
    const owed = claim.funding !== 'none' && !call.posted && chargeNano > 0n;
    for (const lease of leases) {
      lease.heldNano -= call.holdNano;
      lease.calls--;
      if (owed) lease.debtNano += chargeNano;
    }
    use(share, (owed ? chargeNano : 0n) - call.holdNano);
    if (owed) {
      const { workspaceId } = claim;
      const workspaceLease = this.#leases.find('workspace', workspaceId);
      if (workspaceLease) workspaceLease.undrained++;
      this.#debts.set(callId, { workspaceId, chargeNano, leases, share, workspaceLease });
    }
    return call;
  }

  /** Whether charges of the workspace are not posted yet: their hold rows are there until then. */
  owes(workspaceId: string): boolean {
    for (const debt of this.#debts.values()) if (debt.workspaceId === workspaceId) return true;
    return false;
  }

  /**
   * The ledger has a call: leases shrink by its debt, as their rows did in the same transaction. A key's lease shrinks
   * there whether the call was booked in it or not, so it does here.
   */
  posted(post: Posted): void {
    const debt = this.#debts.get(post.callId);
    const call = debt ? undefined : this.#running.get(post.callId);
    if (!debt && !call) return;
    if (call) call.posted = true;
    if (debt) {
      this.#debts.delete(post.callId);
      if (debt.workspaceLease) debt.workspaceLease.undrained--;
      for (const lease of debt.leases) lease.debtNano -= debt.chargeNano;
      use(debt.share, -debt.chargeNano);
    }
    if (post.funding !== 'lease') return;
    for (const kind of ['workspace', 'key'] as const) {
      const lease = this.#leases.find(kind, kind === 'key' ? post.keyId : post.workspaceId);
      if (lease) lease.grantedNano -= post.chargeNano;
    }
  }
}

function use(share: ShareUse | null, amountNano: bigint): void {
  share?.allowance.use(share.payer, amountNano);
}
