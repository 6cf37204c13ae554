import type { FundingParts, FundingQueues } from '#lib/gateway/admission/funding-queue';
import type { Lease } from '#lib/gateway/admission/lease-book';
import type { LimitBook } from '#lib/gateway/limits/pure/limit-book';

/** A lease that nothing was taken from for this long goes back. */
const IDLE_MS = 10_000;

interface MaintainParts extends FundingParts {
  readonly limits: LimitBook;
  readonly queues: FundingQueues;
}

/** Runs once a second: heartbeat, totals of holds, recalls, idle leases, dead owners. */
export async function maintain(parts: MaintainParts): Promise<void> {
  const { owner, clock, money, limits, unwanted, allowance } = parts;
  try {
    if (owner.due(clock.mono()) || allowance.away) {
      limits.sweep(clock.mono());
      if (allowance.away) {
        // Leases may be spent by calls that were admitted without the database: none of them counts any more. And
        // these calls have their rows or are in the ledger before it is asked for more.
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
function refreshShares({ leases, allowance, clock, queues }: MaintainParts): void {
  allowance.sweep(clock.mono());
  for (const lease of leases.all()) {
    if (lease.rowKept && !lease.asking) queues.of(lease.workspaceId).topUp(lease);
  }
}

/** Reports what is held, and gives back what other processes have recalled. */
async function reportHeld({ leases, money, queues }: MaintainParts): Promise<void> {
  const kept = leases.all().filter((lease) => lease.rowKept);
  if (kept.length === 0) return;
  const held = kept.map(({ kind, subjectId, heldNano, debtNano }) => ({
    kind,
    subjectId,
    heldNano: heldNano + debtNano,
  }));
  for (const ref of await money.reportHeld(held)) queues.recall(ref);
}

async function returnIdle({ leases, clock, queues }: MaintainParts): Promise<void> {
  const nowMono = clock.mono();
  for (const lease of leases.all()) {
    if (lease.rowKept && isReturnable(lease, nowMono)) await queues.of(lease.workspaceId).giveBack(lease);
    if (nowMono - lease.usedMono >= IDLE_MS) leases.drop(lease);
  }
  queues.sweep();
}

function isReturnable(lease: Lease, nowMono: number): boolean {
  if (lease.owesReturn) return true;
  if (lease.asking || nowMono - lease.usedMono < IDLE_MS) return false;
  return lease.usableNano > 0n || (lease.heldNano === 0n && lease.debtNano === 0n);
}
