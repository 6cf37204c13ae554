import type { Claim, ClaimEnd, ClaimRequest, Posted } from '#lib/gateway/admission/claim';
import type { Allowance, Payer } from '#lib/gateway/admission/funds/allowance';
import type { Lease, LeaseBook } from '#lib/gateway/admission/funds/lease-book';
import type { Booked, Counters } from '#lib/gateway/admission/limit-book';
import type { Pass, SharedLimits } from '#lib/gateway/limits/shared-limits';
import { CallTable } from '#lib/platform/call-table';

/** Every counter and lease that an admitted call is booked in, so that its end undoes exactly that. */
export interface AdmittedCall {
  readonly claim: Claim;
  readonly need: ClaimRequest['need'];
  readonly key: Counters;
  readonly workspace: Counters;
  readonly keyBooked: Booked;
  readonly workspaceBooked: Booked;
  /** Leases that its hold is booked in; null for the other ways of funding. */
  readonly lease: Lease | null;
  readonly keyLease: Lease | null;
  /** What it uses of the allowance for an outage; null: nothing. */
  share: ShareUse | null;
  /** Where it stands in shared limits: by its claim, and by its place. */
  readonly passes: readonly Pass[];
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
export interface BodyPlace {
  readonly key: Counters;
  readonly workspace: Counters;
  readonly pass: Pass | null;
}

interface Debt {
  readonly workspaceId: string;
  readonly chargeNano: bigint;
  readonly lease: Lease | null;
  readonly keyLease: Lease | null;
  readonly share: ShareUse | null;
  /** Counts what is not posted. */
  readonly workspaceLease: Lease | null;
}

/** The admitted calls of this process, until their charge is posted. Times are monotonic ms. */
export class OpenCalls {
  readonly #leases: LeaseBook;
  readonly #running = new CallTable<AdmittedCall>();
  readonly #debts = new CallTable<Debt>();
  readonly #places = new CallTable<BodyPlace>();
  readonly #shared: SharedLimits | null;

  /** @param shared limits that other processes share; null: this process counts alone. */
  constructor(leases: LeaseBook, shared: SharedLimits | null = null) {
    this.#leases = leases;
    this.#shared = shared;
  }

  /** How many have been admitted and not released. */
  get running(): number {
    return this.#running.size;
  }

  place(callId: string, place: BodyPlace): void {
    this.#places.set(callId, place);
  }

  /** Gives up the place of a call that has ended without a claim. */
  vacate(callId: string): void {
    const pass = this.takeOver(callId);
    if (pass) this.#shared?.end(pass, 0, true);
  }

  /** The claim of a call takes its place over. @returns where that stands in shared limits. */
  takeOver(callId: string): Pass | null {
    const place = this.#places.get(callId);
    if (!place) return null;
    this.#places.delete(callId);
    place.key.vacate();
    place.workspace.vacate();
    return place.pass;
  }

  open(call: AdmittedCall, nowMono: number): void {
    for (const lease of [call.lease, call.keyLease]) {
      if (!lease) continue;
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

  /** Whether caps of its key count for a running call. */
  capped(callId: string): boolean {
    const call = this.#running.get(callId);
    if (!call) return false;
    return call.keyLease !== null || call.lease === null;
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
    const { lease, keyLease, share } = call;
    if (share && share.allowance.lacks(share.payer, moreNano, nowMono) !== null) return false;
    if ((lease && !lease.covers(moreNano)) || (keyLease && !keyLease.covers(moreNano))) return false;
    lease?.hold(moreNano, nowMono);
    keyLease?.hold(moreNano, nowMono);
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
    call.key.freeSlot(call.need);
    call.workspace.freeSlot(call.need);
    for (const pass of call.passes) this.#shared?.leave(pass);
  }

  /** Ends a call once: slot and tokens are free, its hold becomes a debt. @returns the call; null the second time. */
  release(callId: string, outcome: ClaimEnd, nowMono: number): AdmittedCall | null {
    const call = this.#running.get(callId);
    if (!call) return null;
    this.#running.delete(callId);
    const { need, claim, lease, keyLease, share } = call;
    const actual = outcome.undone ? 0 : (outcome.tokens ?? claim.tokens);
    const undone = outcome.undone === true;
    this.#free(call);
    const ended = { need, estimate: claim.tokens, actual, undone };
    call.key.end(call.keyBooked, ended, nowMono);
    call.workspace.end(call.workspaceBooked, ended, nowMono);
    for (const pass of call.passes) this.#shared?.end(pass, actual, undone);
    const owed = claim.funding !== 'none' && !call.posted && outcome.chargeNano > 0n;
    for (const part of [lease, keyLease]) {
      if (!part) continue;
      part.heldNano -= call.holdNano;
      part.calls--;
      if (owed) part.debtNano += outcome.chargeNano;
    }
    use(share, (owed ? outcome.chargeNano : 0n) - call.holdNano);
    if (owed) {
      const workspaceLease = this.#leases.find('workspace', claim.workspaceId);
      if (workspaceLease) workspaceLease.undrained++;
      const { workspaceId } = claim;
      this.#debts.set(callId, {
        workspaceId,
        chargeNano: outcome.chargeNano,
        lease,
        keyLease,
        share,
        workspaceLease,
      });
    }
    return call;
  }

  /** Whether charges of the workspace are not posted yet: their hold rows still stand until then. */
  owes(workspaceId: string): boolean {
    for (const debt of this.#debts.values()) if (debt.workspaceId === workspaceId) return true;
    return false;
  }

  /**
   * The ledger has a call: leases shrink with its debt, as their rows did in the same transaction. A
   * key's lease shrinks there whether the call stood in it or not, so it does here.
   */
  posted(post: Posted): void {
    const debt = this.#debts.get(post.callId);
    const call = debt ? undefined : this.#running.get(post.callId);
    if (!debt && !call) return;
    this.#debts.delete(post.callId);
    if (debt?.workspaceLease) debt.workspaceLease.undrained--;
    if (call) call.posted = true;
    if (debt?.lease) debt.lease.debtNano -= debt.chargeNano;
    if (debt?.keyLease) debt.keyLease.debtNano -= debt.chargeNano;
    if (debt) use(debt.share, -debt.chargeNano);
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
