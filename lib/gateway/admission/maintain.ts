import type { Allowance } from '#lib/gateway/admission/funds/allowance';
import type { FundingQueue } from '#lib/gateway/admission/funds/funding-queue';
import type { Lease, LeaseBook } from '#lib/gateway/admission/funds/lease-book';
import type { Owner } from '#lib/gateway/admission/funds/owner';
import type { UnwantedRows } from '#lib/gateway/admission/funds/unwanted-rows';
import type { LimitBook } from '#lib/gateway/admission/limit-book';
import type { MoneyStore } from '#lib/gateway/admission/money-store';
import type { OpenCalls } from '#lib/gateway/admission/open-calls';
import type { Clock } from '#lib/platform/clock';

/** A lease that nothing was taken from for this long goes back. */
const IDLE_MS = 10_000;

export interface MaintainParts {
  readonly clock: Clock;
  readonly money: MoneyStore;
  readonly leases: LeaseBook;
  readonly limits: LimitBook;
  readonly owner: Owner;
  readonly allowance: Allowance;
  readonly calls: OpenCalls;
  readonly unwanted: UnwantedRows;
  readonly queues: Map<string, FundingQueue>;
  queueOf(workspaceId: string): FundingQueue;
  flushSettlement(): Promise<void>;
  report(error: unknown): void;
}

/** Runs once a second: heartbeat, totals of holds, recalls, idle leases, dead owners. */
export async function maintain(parts: MaintainParts): Promise<void> {
  const { owner, clock, money, limits, unwanted, allowance } = parts;
  try {
    if (owner.due(clock.mono()) || allowance.away) {
      limits.sweep(clock.mono());
      if (allowance.away) {
        // Leases may be spent by calls that were admitted without the database: none of them counts any more. And
        // these calls have their rows or stand in the ledger before it is asked for more.
        await owner.startOver();
        await holdRunning(parts);
        await parts.flushSettlement().catch((error: unknown) => {
          if (money.isAway(error)) throw error;
          parts.report(error);
        });
        allowance.answered();
        // Those that were admitted while it was posted.
        await holdRunning(parts);
      } else await owner.beat();
      await money.closeExpired();
      if (allowance.granted) refreshShares(parts);
    }
    await unwanted.remove([]);
    await reportHeld(parts);
    await returnIdle(parts);
  } catch (error) {
    if (money.isAway(error)) allowance.failed(clock.mono());
    parts.report(error);
  }
}

/** Calls that were admitted without the database go on as any whose hold is a row. */
async function holdRunning({ money, calls, unwanted }: MaintainParts): Promise<void> {
  const running = calls.sharing();
  await money.addHolds(
    running.map(({ claim, holdNano }) => ({ ...claim, amountNano: holdNano, atMs: claim.admittedAtMs })),
  );
  const ended = running.filter(({ claim }) => !calls.hasRow(claim.callId));
  if (ended.length > 0) void unwanted.remove(ended.map(({ claim }) => claim.callId));
}

/** Asks what is free of everything that calls come for, so that an outage finds figures of the last seconds. */
function refreshShares({ leases, allowance, clock, queueOf }: MaintainParts): void {
  allowance.sweep(clock.mono());
  for (const lease of leases.all()) {
    if (lease.rowKept && !lease.asking) queueOf(lease.workspaceId).topUp(lease);
  }
}

/** Tells what is held, and hears what is asked back. */
async function reportHeld({ leases, money, clock, queueOf, report }: MaintainParts): Promise<void> {
  const kept = leases.all().filter((lease) => lease.rowKept);
  if (kept.length === 0) return;
  const news = kept.map((lease) => ({
    kind: lease.kind,
    subjectId: lease.subjectId,
    heldNano: lease.heldNano + lease.debtNano,
  }));
  for (const ref of await money.reportHeld(news)) {
    const lease = leases.find(ref.kind, ref.subjectId);
    if (!lease) continue;
    lease.pause(clock.mono());
    queueOf(lease.workspaceId).giveBack([lease]).catch(report);
  }
}

async function returnIdle(parts: MaintainParts): Promise<void> {
  const { leases, clock, queues, queueOf } = parts;
  const nowMono = clock.mono();
  for (const lease of leases.all()) {
    if (lease.rowKept && isReturnable(lease, nowMono)) await queueOf(lease.workspaceId).giveBack([lease]);
    if (nowMono - lease.usedMono >= IDLE_MS) leases.drop(lease);
  }
  for (const [id, queue] of queues) {
    if (!queue.busy && !leases.find('workspace', id)) queues.delete(id);
  }
}

function isReturnable(lease: Lease, nowMono: number): boolean {
  if (lease.owesReturn) return true;
  if (lease.asking || nowMono - lease.usedMono < IDLE_MS) return false;
  return lease.usableNano > 0n || (lease.heldNano === 0n && lease.debtNano === 0n);
}
