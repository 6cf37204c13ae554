import { type Refusal, refusal } from '#lib/core/errors';
import type { Caps } from '#lib/core/facts/snapshot';
import type { Claim, ClaimRequest, Coordinator, SuspendCause } from '#lib/gateway/admission/claim';
import { Allowance, type Payer } from '#lib/gateway/admission/funds/allowance';
import { FundingQueue, type FundingQueueParts } from '#lib/gateway/admission/funds/funding-queue';
import { LeaseBook, type LeaseTotals } from '#lib/gateway/admission/funds/lease-book';
import { Owner } from '#lib/gateway/admission/funds/owner';
import { UnwantedRows } from '#lib/gateway/admission/funds/unwanted-rows';
import { type Source, storeAway, waiterOf } from '#lib/gateway/admission/funds/waiter';
import { LimitBook, type LimitUse } from '#lib/gateway/admission/limit-book';
import { byRow, free, LimitGate, type Means } from '#lib/gateway/admission/limit-gate';
import { maintain } from '#lib/gateway/admission/maintain';
import type { MoneyStore } from '#lib/gateway/admission/money-store';
import { OpenCalls } from '#lib/gateway/admission/open-calls';
import { checkLimits } from '#lib/gateway/admission/pure/decide';
import type { SharedLimits } from '#lib/gateway/limits/shared-limits';
import type { Clock } from '#lib/platform/clock';
import type { AllowanceLimits } from '#lib/platform/env/part-settings';

export interface CoordinatorParts {
  readonly clock: Clock;
  readonly money: MoneyStore;
  /**
   * Brings the closed calls of this process to the ledger now; resolves once `posted` has told of all
   * that were closed before. Rejects when the database is away.
   */
  flushSettlement(): Promise<void>;
  /** Limits that other processes share; null or none: this process counts alone. */
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

export interface RunningCoordinator extends Coordinator {
  /** Registers this process as an owner and starts its housekeeping. Recover the journal first. */
  start(): Promise<void>;
  /** Rebuilds the windows; before the first claim. */
  restoreWindows(calls: readonly PastCall[]): void;
  /** Admitted calls that have not been released. */
  openCalls(): number;
  /** What the leases of this process come to; for metrics. */
  leaseTotals(): readonly LeaseTotals[];
  /** What counts against the limits of a key or workspace in this process; null: nothing. */
  limitUse(id: string): LimitUse | null;
  /** One round of housekeeping; `start` runs it every second. */
  maintain(): Promise<void>;
}

const MAINTAIN_MS = 1_000;

/** The coordinator of this process over `parts.money` (contract: admission/coordinator). */
export function createCoordinator(parts: CoordinatorParts): RunningCoordinator {
  const { clock, money, report } = parts;
  const leases = new LeaseBook();
  const limits = new LimitBook();
  const shared = parts.shared ?? null;
  const calls = new OpenCalls(leases, shared);
  const gate = new LimitGate(clock, limits, calls, shared);
  const owner = new Owner(clock, money, leases);
  const allowance = new Allowance(leases, owner, parts.byRows ? undefined : parts.outage);
  const unwanted = new UnwantedRows(money, report);
  const queues = new Map<string, FundingQueue>();
  let halted: Refusal | null = null;
  const suspended = new Map<SuspendCause, Refusal>();
  let closed = false;
  let timer: NodeJS.Timeout | null = null;
  let tending: Promise<void> | null = null;

  const queueParts: FundingQueueParts = {
    clock,
    money,
    leases,
    owner,
    allowance,
    flushSettlement: () => parts.flushSettlement(),
    owes: (workspaceId) => calls.owes(workspaceId),
    rowsRemoved: () => unwanted.remove([]),
    removeRow: (callId) => void unwanted.remove([callId]),
    report,
  };

  function queueOf(workspaceId: string): FundingQueue {
    let queue = queues.get(workspaceId);
    if (!queue) {
      queue = new FundingQueue(workspaceId, queueParts);
      queues.set(workspaceId, queue);
    }
    return queue;
  }

  /** Why no call is admitted now; null: calls are. */
  function stopNow(): Refusal | null {
    if (halted !== null || suspended.size === 0) return halted;
    return suspended.values().next().value ?? null;
  }

  /** The leases that cover a hold here and now; null: PostgreSQL must be asked. */
  function meansFor({ snapshot, holdNano, simulated }: ClaimRequest): Means | null {
    const { key, workspace } = snapshot;
    const lease = leases.find('workspace', workspace.id);
    if (!lease?.covers(holdNano) || (lease.simulated && !simulated)) return null;
    if (!hasCaps(key.caps)) return { funding: 'lease', lease, keyLease: null };
    const keyLease = leases.find('key', key.id);
    return keyLease?.covers(holdNano) ? { funding: 'lease', lease, keyLease } : null;
  }

  function admit(request: ClaimRequest, means: Means): Claim | Refusal {
    const stop = stopNow();
    if (stop) return checkLimits(request.snapshot) ?? stop;
    const admitted = gate.admit(request, means);
    if (means.funding !== 'lease') return admitted;
    const nowMono = clock.mono();
    if (means.lease.low(nowMono)) queueOf(means.lease.workspaceId).topUp(means.lease);
    if (means.keyLease?.low(nowMono)) queueOf(means.keyLease.workspaceId).topUp(means.keyLease);
    return admitted;
  }

  /** The database is away (contract: money/outage-allowance). @returns null: nothing for a hold that must be a row. */
  function admitWithout(request: ClaimRequest): Claim | Refusal | null {
    if (request.durable) return null;
    const { snapshot, holdNano, simulated = false } = request;
    const { key, workspace } = snapshot;
    const payer: Payer = {
      workspaceId: workspace.id,
      cappedKeyId: hasCaps(key.caps) ? key.id : null,
      simulated,
    };
    const lacks = allowance.lacks(payer, holdNano, clock.mono());
    if (lacks !== null) return storeAway(lacks);
    return admit(request, { funding: 'row', share: { allowance, payer } });
  }

  function admitWaiting(request: ClaimRequest, from: Source): Claim | Refusal | Promise<Refusal> | null {
    if (from === 'allowance') return admitWithout(request);
    const { snapshot, callId, holdNano } = request;
    const means = from === 'row' ? byRow : meansFor(request);
    if (!means) return null;
    const admitted = admit(request, means);
    if (from === 'lease') return admitted;
    // A refused request leaves nothing behind: its row goes before it is answered.
    if ('code' in admitted) return unwanted.remove([callId]).then(() => admitted);
    const lease = leases.find('workspace', snapshot.workspace.id);
    // A lease that this call could not use counts as idle, so that one of real money can take its place.
    if (lease && (!lease.simulated || request.simulated)) lease.note(holdNano, clock.mono());
    leases.find('key', snapshot.key.id)?.note(holdNano, clock.mono());
    return admitted;
  }

  function waitForMoney(request: ClaimRequest): Promise<Claim | Refusal> {
    const { key, workspace } = request.snapshot;
    const want = {
      callId: request.callId,
      keyId: key.id,
      capped: hasCaps(key.caps),
      amountNano: request.holdNano,
      mustFit: workspace.strict,
      mode: request.durable || parts.byRows ? 'claim-row' : 'claim',
      atMs: request.atMs,
      simulated: request.simulated === true,
      ...(parts.byRows && request.open && { open: request.open() }),
    } as const;
    return new Promise((resolve) => {
      const take = (from: Source) => admitWaiting(request, from);
      queueOf(workspace.id).ask(waiterOf<Claim>(want, workspace.timeZone, resolve, take));
    });
  }

  function waitForMore(claim: Claim, holdNano: bigint, moreNano: bigint): Promise<boolean> {
    const want = {
      callId: claim.callId,
      keyId: claim.keyId,
      capped: calls.capped(claim.callId),
      amountNano: moreNano,
      mustFit: true,
      mode: claim.funding === 'lease' ? 'grow-lease' : 'grow-row',
      atMs: claim.admittedAtMs,
      simulated: claim.simulated,
    } as const;
    return new Promise((resolve) => {
      const answer = (grown: unknown) => resolve(grown === true);
      const take = (from: Source) => {
        if (from === 'allowance') return null;
        if (calls.missing(claim.callId, holdNano) === null) return false;
        return calls.grow(claim.callId, moreNano, clock.mono()) || null;
      };
      queueOf(claim.workspaceId).ask(waiterOf<boolean>(want, null, answer, take));
    });
  }

  function decideClaim(request: ClaimRequest): ReturnType<Coordinator['claim']> {
    if (request.need !== 'generate') return admit(request, free);
    const leased = !request.durable && !parts.byRows && owner.lives(clock.mono());
    const means = leased ? meansFor(request) : null;
    if (means) return admit(request, means);
    const without = allowance.isOpen(clock.mono()) ? admitWithout(request) : null;
    return without ?? waitForMoney(request);
  }

  return {
    place: (callId, snapshot) => stopNow() ?? gate.place(callId, snapshot),

    vacate: (callId) => calls.vacate(callId),

    claim(request) {
      // Until its books are closed, what funds and caps refuse is told by a stopped process too (contract: admission/order).
      if ((closed || request.need !== 'generate') && stopNow()) return admit(request, free);
      return gate.afterShared(request, decideClaim);
    },

    grow(claim, holdNano) {
      const moreNano = calls.missing(claim.callId, holdNano);
      if (moreNano === null) return false;
      if (moreNano <= 0n || claim.funding === 'none') return true;
      const nowMono = clock.mono();
      const inShare = calls.usesShare(claim.callId);
      const inMemory = inShare || (claim.funding === 'lease' && owner.lives(nowMono));
      if (inMemory && calls.grow(claim.callId, moreNano, nowMono)) return true;
      return !inShare && waitForMore(claim, holdNano, moreNano);
    },

    leave(claim) {
      calls.leave(claim.callId);
    },

    release(claim, outcome) {
      const ended = calls.release(claim.callId, outcome, clock.mono());
      // Settlement removes the row of a call with a charge, together with posting it; without a journal every row.
      const removed = parts.byRows || outcome.chargeNano > 0n;
      if (ended && !ended.share && claim.funding === 'row' && !removed) void unwanted.remove([claim.callId]);
    },

    posted(posts) {
      for (const post of posts) calls.posted(post);
    },

    recall(kind, subjectId) {
      const lease = leases.find(kind, subjectId);
      if (!lease?.rowKept) return;
      lease.pause(clock.mono());
      queueOf(lease.workspaceId).giveBack([lease]).catch(report);
    },

    ready() {
      const nowMono = clock.mono();
      return stopNow() === null && (owner.lives(nowMono) || allowance.isOpen(nowMono));
    },

    halt(reason) {
      halted ??= stopped(reason);
    },

    suspend(cause, reason, machineFault) {
      suspended.set(cause, { ...stopped(reason), ...(machineFault && { machineFault }) });
    },

    resume(cause) {
      suspended.delete(cause);
    },

    openCalls: () => calls.running,

    leaseTotals: () => leases.totals(),

    limitUse: (id) => limits.useOf(id, clock.mono()),

    restoreWindows(past) {
      const offsetMs = clock.mono() - clock.now();
      for (const call of past) {
        const seed = { atMono: call.atMs + offsetMs, tokens: call.tokens };
        limits.seed(call.keyId, seed);
        limits.seed(call.workspaceId, seed);
      }
    },

    async start() {
      await owner.register(true);
      await shared?.start();
      timer = setInterval(() => void this.maintain(), MAINTAIN_MS);
      timer.unref();
    },

    maintain() {
      tending ??= maintain({
        clock,
        money,
        leases,
        limits,
        owner,
        allowance,
        calls,
        flushSettlement: () => parts.flushSettlement(),
        unwanted,
        queues,
        queueOf,
        report,
      }).finally(() => {
        tending = null;
      });
      return tending;
    },

    async close() {
      halted ??= stopped('it is stopping, send the request again');
      closed = true;
      if (timer) clearInterval(timer);
      await tending;
      for (const lease of leases.all()) {
        if (lease.rowKept) await queueOf(lease.workspaceId).giveBack([lease]);
      }
      await unwanted.remove([]);
      await shared?.close();
      await money.leave();
    },
  };
}

/** @param reason says what to do about it; a fragment or a sentence. */
function stopped(reason: string): Refusal {
  const text = reason.replace(/\.\s*$/, '');
  return refusal('local_quota_not_configured', `This gateway process takes no new calls: ${text}.`);
}

function hasCaps(caps: Caps): boolean {
  return caps.dayNano !== null || caps.d7Nano !== null || caps.d30Nano !== null || caps.quotaNano !== null;
}
