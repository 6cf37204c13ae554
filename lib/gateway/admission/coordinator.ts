import { type Refusal, refusal } from '#lib/core/errors';
import type { Caps, KeySnapshot } from '#lib/core/facts/snapshot';
import type { MachineFault } from '#lib/core/machine-fault';
import { Allowance, type Payer } from '#lib/gateway/admission/allowance';
import type { Claim, ClaimEnd, ClaimRequest, Posted } from '#lib/gateway/admission/claim';
import {
  type FundingParts,
  FundingQueues,
  type Source,
  waiterOf,
} from '#lib/gateway/admission/funding-queue';
import { type Lease, LeaseBook, type LeaseTotals } from '#lib/gateway/admission/lease-book';
import { byRow, cappedTags, free, LimitGate, type Means } from '#lib/gateway/admission/limit-gate';
import { maintain } from '#lib/gateway/admission/maintain';
import type { LeaseKind, MoneyStore } from '#lib/gateway/admission/money-store';
import { OpenCalls } from '#lib/gateway/admission/open-calls';
import { Owner } from '#lib/gateway/admission/owner';
import { checkLimits } from '#lib/gateway/admission/pure/decide';
import { storeAway } from '#lib/gateway/admission/pure/shortage';
import { UnwantedRows } from '#lib/gateway/admission/unwanted-rows';
import { LimitBook, type LimitUse } from '#lib/gateway/limits/pure/limit-book';
import type { SharedLimits } from '#lib/gateway/limits/shared-limits';
import type { Clock } from '#lib/platform/clock';
import type { AllowanceLimits } from '#lib/platform/env/part-settings';

export interface CoordinatorParts {
  readonly clock: Clock;
  readonly money: MoneyStore;
  /**
   * Brings the closed calls of this process to the ledger now; resolves once `posted` has been called for all that were
   * closed before. Rejects when the database is away.
   */
  flushSettlement(): Promise<void>;
  /** Limits that other processes share; null or absent: only this process counts. */
  readonly shared?: SharedLimits | null;
  /** Settlement without a journal: nothing is leased, and each hold is a row, which the settlement of its call removes. */
  readonly byRows?: boolean;
  /** How far calls are admitted while the database is away; absent: no further than leases reach. */
  readonly outage?: AllowanceLimits;
  /** Errors that no call is waiting for. */
  report(error: unknown): void;
}

/** A call of the last 60 s, for the windows of a process that starts (contract: limits/rebuilt). */
interface PastCall {
  readonly keyId: string;
  readonly workspaceId: string;
  /** Admission, ms since the epoch. */
  readonly atMs: number;
  readonly tokens: number;
}

/** The disk refuses the journal; this version cannot settle in its database. */
type SuspendCause = 'journal' | 'outdated';

const MAINTAIN_MS = 1_000;

/**
 * The local quota coordinator: the one object that owns leases and counters of this process
 * (contract: admission/coordinator). A claim within the lease is answered without a promise and without SQL.
 */
export class Coordinator {
  readonly #parts: CoordinatorParts;
  readonly #funding: FundingParts;
  readonly #queues: FundingQueues;
  readonly #limits = new LimitBook();
  readonly #gate: LimitGate;
  readonly #suspended = new Map<SuspendCause, Refusal>();
  #halted: Refusal | null = null;
  #closed = false;
  #timer: NodeJS.Timeout | null = null;
  #maintaining: Promise<void> | null = null;

  constructor(parts: CoordinatorParts) {
    const { clock, money, shared = null, byRows, outage } = parts;
    const leases = new LeaseBook();
    const calls = new OpenCalls(leases);
    const owner = new Owner(clock, money, leases);
    this.#parts = parts;
    this.#gate = new LimitGate(clock, this.#limits, calls, shared);
    this.#funding = {
      clock,
      money,
      leases,
      owner,
      calls,
      allowance: new Allowance(leases, owner, byRows ? undefined : outage),
      unwanted: new UnwantedRows(money, (error) => parts.report(error)),
      flushSettlement: () => parts.flushSettlement(),
      report: (error) => parts.report(error),
    };
    this.#queues = new FundingQueues(this.#funding);
  }

  /** Registers this process as an owner and starts its housekeeping. Recover the journal first. */
  async start(): Promise<void> {
    await this.#funding.owner.register(true);
    await this.#parts.shared?.start();
    this.#timer = setInterval(() => void this.maintain(), MAINTAIN_MS);
    this.#timer.unref();
  }

  /** One round of housekeeping; `start` runs it every second. */
  maintain(): Promise<void> {
    this.#maintaining ??= maintain({
      ...this.#funding,
      limits: this.#limits,
      queues: this.#queues,
    }).finally(() => {
      this.#maintaining = null;
    });
    return this.#maintaining;
  }

  /** Gives every lease back; for an orderly stop. */
  async close(): Promise<void> {
    this.halt('it is stopping, send the request again');
    this.#closed = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#maintaining;
    const { leases, unwanted, money } = this.#funding;
    for (const lease of leases.all()) {
      if (lease.rowKept) await this.#queues.of(lease.workspaceId).giveBack(lease);
    }
    await unwanted.remove([]);
    await this.#parts.shared?.close();
    await money.leave();
  }

  /**
   * Takes the RPM unit and the concurrency slots of a call before its body is read (contract: body/large-first). The
   * unit counts as admitted now until the claim, which then books it at its own moment.
   * @returns the refusal; null: the call holds them until its claim, or until `vacate`.
   */
  place(callId: string, snapshot: KeySnapshot): Refusal | null | Promise<Refusal | null> {
    return this.#stopNow() ?? this.#gate.place(callId, snapshot);
  }

  /** Frees the place of a call that ends without a claim. Idempotent by call id. */
  vacate(callId: string): void {
    this.#funding.calls.vacate(callId);
  }

  claim(request: ClaimRequest): Claim | Refusal | Promise<Claim | Refusal> {
    // Until its books are closed, a stopped process still reports what funds and caps refuse (contract: admission/order).
    if ((this.#closed || request.need !== 'generate') && this.#stopNow()) return this.#admit(request, free);
    return this.#gate.afterShared(request, (asked) => this.#decide(asked));
  }

  /**
   * A running call's estimate passed its hold: raise it to `holdNano`. False when it cannot grow
   * (a strict workspace then ends the stream; others go on and the excess is recorded).
   */
  grow(claim: Claim, holdNano: bigint): boolean | Promise<boolean> {
    const { calls, owner, clock } = this.#funding;
    const moreNano = calls.missing(claim.callId, holdNano);
    if (moreNano === null) return false;
    if (moreNano <= 0n || claim.funding === 'none') return true;
    const nowMono = clock.mono();
    const inShare = calls.usesShare(claim.callId);
    const inMemory = inShare || (claim.funding === 'lease' && owner.lives(nowMono));
    if (inMemory && calls.grow(claim.callId, moreNano, nowMono)) return true;
    return !inShare && this.#waitForMore(claim, holdNano, moreNano);
  }

  /** Frees the slots of a running call whose client has left; its hold stays. Idempotent by call id. */
  leave(claim: Claim): void {
    this.#funding.calls.leave(claim.callId);
  }

  /** Frees the slot, corrects TPM, turns the hold into a debt until the drain has posted it. Idempotent by call id. */
  release(claim: Claim, outcome: ClaimEnd): void {
    const { calls, clock, unwanted } = this.#funding;
    const ended = calls.release(claim.callId, outcome, clock.mono());
    // Settlement removes the row of a call with a charge, together with posting it; without a journal every row.
    const removed = this.#parts.byRows || outcome.chargeNano > 0n;
    if (ended && !ended.share && claim.funding === 'row' && !removed) void unwanted.remove([claim.callId]);
  }

  /** The drain's transaction committed: the debts of these calls are in the ledger now. */
  posted(posts: readonly Posted[]): void {
    for (const post of posts) this.#funding.calls.posted(post);
  }

  /** A lease was recalled or a limit changed elsewhere (change feed). */
  recall(kind: LeaseKind, subjectId: string): void {
    if (this.#funding.leases.find(kind, subjectId)?.rowKept) this.#queues.recall({ kind, subjectId });
  }

  /** Whether new calls may be admitted at all: false while the journal or the money store is lost. */
  ready(): boolean {
    const { owner, allowance, clock } = this.#funding;
    const nowMono = clock.mono();
    return this.#stopNow() === null && (owner.lives(nowMono) || allowance.isOpen(nowMono));
  }

  /** Stops admission at once and permanently, with this reason: the process is stopping. */
  halt(reason: string): void {
    this.#halted ??= stopped(reason);
  }

  /** Stops admission at once with this reason, until `resume` of the same cause. */
  suspend(cause: SuspendCause, reason: string, machineFault?: MachineFault | null): void {
    this.#suspended.set(cause, { ...stopped(reason), ...(machineFault && { machineFault }) });
  }

  resume(cause: SuspendCause): void {
    this.#suspended.delete(cause);
  }

  /** Admitted calls that have not been released. */
  openCalls(): number {
    return this.#funding.calls.running;
  }

  /** The totals of this process's leases; for metrics. */
  leaseTotals(): readonly LeaseTotals[] {
    return this.#funding.leases.totals();
  }

  /** What counts against the limits of a key or workspace in this process; null: nothing. */
  limitUse(id: string): LimitUse | null {
    return this.#limits.usageOf(id, this.#funding.clock.mono());
  }

  /** Rebuilds the windows; before the first claim. */
  restoreWindows(calls: readonly PastCall[]): void {
    const { clock } = this.#funding;
    const offsetMs = clock.mono() - clock.now();
    for (const { keyId, workspaceId, atMs, tokens } of calls) {
      for (const id of [keyId, workspaceId]) this.#limits.remember(id, { atMono: atMs + offsetMs, tokens });
    }
  }

  /** Why no call is admitted now; null: calls are. */
  #stopNow(): Refusal | null {
    if (this.#halted !== null || this.#suspended.size === 0) return this.#halted;
    return this.#suspended.values().next().value ?? null;
  }

  #decide(request: ClaimRequest): Claim | Refusal | Promise<Claim | Refusal> {
    if (request.need !== 'generate') return this.#admit(request, free);
    const { owner, allowance, clock } = this.#funding;
    const leased = !request.durable && !this.#parts.byRows && owner.lives(clock.mono());
    const leases = leased ? this.#leasesFor(request) : null;
    if (leases) return this.#admit(request, { funding: 'lease', leases });
    const without = allowance.isOpen(clock.mono()) ? this.#admitWithout(request) : null;
    return without ?? this.#waitForMoney(request);
  }

  /** The leases that cover a hold here and now; null: PostgreSQL must be asked. */
  #leasesFor(request: ClaimRequest): readonly Lease[] | null {
    if (cappedTags(request)) return null;
    const { leases } = this.#funding;
    const { snapshot, holdNano, simulated } = request;
    const { key, workspace } = snapshot;
    const lease = leases.find('workspace', workspace.id);
    if (!lease?.covers(holdNano) || (lease.simulated && !simulated)) return null;
    if (!hasCaps(key.caps)) return [lease];
    const keyLease = leases.find('key', key.id);
    return keyLease?.covers(holdNano) ? [lease, keyLease] : null;
  }

  #admit(request: ClaimRequest, means: Means): Claim | Refusal {
    const stop = this.#stopNow();
    if (stop) return checkLimits(request.snapshot) ?? stop;
    const admitted = this.#gate.admit(request, means);
    if (means.funding !== 'lease') return admitted;
    const nowMono = this.#funding.clock.mono();
    for (const lease of means.leases) {
      if (lease.low(nowMono)) this.#queues.of(lease.workspaceId).topUp(lease);
    }
    return admitted;
  }

  /** The database is away (contract: money/outage-allowance). @returns null: nothing for a hold that must be a row. */
  #admitWithout(request: ClaimRequest): Claim | Refusal | null {
    if (request.durable) return null;
    if (cappedTags(request)) return storeAway('what is left of the budgets of its tags is not known');
    const { allowance, clock } = this.#funding;
    const { snapshot, holdNano, simulated = false } = request;
    const { key, workspace } = snapshot;
    const payer: Payer = {
      workspaceId: workspace.id,
      cappedKeyId: hasCaps(key.caps) ? key.id : null,
      simulated,
    };
    const lacks = allowance.lacks(payer, holdNano, clock.mono());
    if (lacks !== null) return storeAway(lacks);
    return this.#admit(request, { funding: 'row', share: { allowance, payer } });
  }

  #admitWaiting(request: ClaimRequest, from: Source): Claim | Refusal | Promise<Refusal> | null {
    if (from === 'allowance') return this.#admitWithout(request);
    const { leases, clock, unwanted } = this.#funding;
    const { snapshot, callId, holdNano, simulated } = request;
    if (from === 'lease') {
      const covering = this.#leasesFor(request);
      return covering && this.#admit(request, { funding: 'lease', leases: covering });
    }
    const admitted = this.#admit(request, byRow);
    // A refused request leaves nothing behind: its row goes before it is answered.
    if ('code' in admitted) return unwanted.remove([callId]).then(() => admitted);
    const lease = leases.find('workspace', snapshot.workspace.id);
    // A lease that this call could not use counts as idle, so that one of real money can take its place.
    if (lease && (!lease.simulated || simulated)) lease.note(holdNano, clock.mono());
    leases.find('key', snapshot.key.id)?.note(holdNano, clock.mono());
    return admitted;
  }

  #waitForMoney(request: ClaimRequest): Promise<Claim | Refusal> {
    const { key, workspace } = request.snapshot;
    const { byRows } = this.#parts;
    const tags = cappedTags(request);
    const hold = {
      callId: request.callId,
      keyId: key.id,
      capped: hasCaps(key.caps),
      amountNano: request.holdNano,
      mustFit: workspace.strict,
      mode: request.durable || byRows || tags ? 'claim-row' : 'claim',
      atMs: request.atMs,
      simulated: request.simulated === true,
      ...(tags && { tags }),
      ...(byRows && request.open && { open: request.open() }),
    } as const;
    return new Promise((resolve) => {
      const take = (from: Source) => this.#admitWaiting(request, from);
      this.#queues.of(workspace.id).ask(waiterOf<Claim>(hold, workspace.timeZone, resolve, take));
    });
  }

  #waitForMore(claim: Claim, holdNano: bigint, moreNano: bigint): Promise<boolean> {
    const { calls, clock } = this.#funding;
    const hold = {
      callId: claim.callId,
      keyId: claim.keyId,
      capped: calls.capped(claim.callId),
      amountNano: moreNano,
      mustFit: true,
      mode: claim.funding === 'lease' ? 'grow-lease' : 'grow-row',
      atMs: claim.admittedAtMs,
      simulated: claim.simulated,
      ...(claim.tags && { tags: claim.tags }),
    } as const;
    return new Promise((resolve) => {
      const answer = (grown: unknown) => resolve(grown === true);
      const take = (from: Source) => {
        if (from === 'allowance') return null;
        if (calls.missing(claim.callId, holdNano) === null) return false;
        return calls.grow(claim.callId, moreNano, clock.mono()) || null;
      };
      this.#queues.of(claim.workspaceId).ask(waiterOf<boolean>(hold, null, answer, take));
    });
  }
}

/** @param reason says what to do about it; a fragment or a sentence. */
function stopped(reason: string): Refusal {
  const text = reason.replace(/\.\s*$/, '');
  return refusal('local_quota_not_configured', `This gateway process takes no new calls: ${text}.`);
}

function hasCaps(caps: Caps): boolean {
  return caps.dayNano !== null || caps.d7Nano !== null || caps.d30Nano !== null || caps.quotaNano !== null;
}
