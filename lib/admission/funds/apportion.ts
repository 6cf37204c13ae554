import type { FundRequest, LeaseRef, LeaseState, Shortage, Verdict, Want } from '#lib/admission/money-store';

/** What a lease may leave free at least: this many of the largest holds (contract: money/lease-floor). */
const FLOOR_HOLDS = 20n;
/** A lease smaller than this many holds would be asked for again at once. */
const USEFUL_HOLDS = 4n;

/** One cap of a key as the database has it, nano-dollars. */
export interface CapRoom {
  readonly code: Exclude<Shortage['code'], 'insufficient_balance'>;
  readonly capNano: bigint;
  /** Settled spend inside the cap's window. */
  readonly settledNano: bigint;
  /** Hold rows inside the cap's window. */
  readonly rowsNano: bigint;
  readonly freesAtMs: number | null;
}

/** A workspace or a key as the database has it under its row lock. */
export interface LockedFunds extends LeaseRef {
  /** Leased to this owner, and to all others. */
  readonly ownNano: bigint;
  readonly othersNano: bigint;
  /** Balance + credit, and hold rows; for a key, its caps. */
  readonly settledNano: bigint;
  readonly rowsNano: bigint;
  /** Of what is settled: promo credit that expires soon. Calls may spend it, and no lease may have it. */
  readonly endingNano: bigint;
  readonly caps: readonly CapRoom[];
}

export interface Apportioned {
  readonly verdicts: readonly Verdict[];
  readonly grants: ReadonlyMap<LockedFunds, bigint>;
  /** Leases of other owners that stand in the way. */
  readonly recalls: readonly LeaseRef[];
}

interface Bound {
  readonly code: Shortage['code'];
  readonly boundNano: bigint;
  readonly settledFreeNano: bigint;
  freeNano: bigint;
  readonly freesAtMs: number | null;
}

/** Funds while they are being shared out. */
interface Open {
  readonly funds: LockedFunds;
  readonly bounds: readonly Bound[];
  usableNano: bigint;
  grantNano: bigint;
}

/**
 * Shares out what is free among the wants, in their order (contract: money/crossing-call, money/caps): from a lease
 * where it covers, else as a row where anything is left before the want's own hold. Called under row locks.
 * @param owners live owners, at least 1.
 */
export function apportion(
  request: FundRequest,
  workspace: LockedFunds,
  keys: ReadonlyMap<string, LockedFunds>,
  owners: number,
): Apportioned {
  const funds = open(workspace, request.workspace, owners, request.wants);
  const caps = new Map<string, Open>();
  for (const state of request.keys) {
    const funds = keys.get(state.subjectId);
    const wants = request.wants.filter((want) => want.keyId === state.subjectId);
    if (funds) caps.set(state.subjectId, open(funds, state, owners, wants));
  }
  const recalls = new Map<string, LeaseRef>();
  const verdicts = request.wants.map((want): Verdict => {
    const cap = want.capped ? caps.get(want.keyId) : undefined;
    const payers = cap ? [funds, cap] : [funds];
    const verdict = want.mode === 'grow-lease' ? enlarge(want, payers) : admit(want, payers);
    if (verdict.kind === 'short') {
      for (const ref of verdict.shortage.leases) recalls.set(`${ref.kind}:${ref.subjectId}`, ref);
    }
    return verdict;
  });
  const grants = new Map<LockedFunds, bigint>();
  for (const part of [funds, ...caps.values()]) {
    if (part.grantNano > 0n) grants.set(part.funds, part.grantNano);
  }
  return { verdicts, grants, recalls: [...recalls.values()] };
}

function open(funds: LockedFunds, state: LeaseState, owners: number, wants: readonly Want[]): Open {
  const own = state.reclaim && funds.ownNano > state.keepNano ? state.keepNano : funds.ownNano;
  const leased = own + funds.othersNano;
  const bounds: Bound[] =
    funds.kind === 'workspace'
      ? [
          {
            code: 'insufficient_balance',
            boundNano: funds.settledNano,
            settledFreeNano: funds.settledNano,
            freeNano: funds.settledNano - funds.rowsNano - leased,
            freesAtMs: null,
          },
        ]
      : funds.caps.map((cap) => ({
          code: cap.code,
          boundNano: cap.capNano,
          settledFreeNano: cap.capNano - cap.settledNano,
          freeNano: cap.capNano - cap.settledNano - cap.rowsNano - leased,
          freesAtMs: cap.freesAtMs,
        }));
  const part: Open = {
    funds,
    bounds,
    usableNano: state.reclaim ? 0n : state.usableNano,
    grantNano: 0n,
  };
  if (!state.reclaim && state.grantable) extend(part, grantOf(part, state, owners, wants));
  return part;
}

/** At most half of what is free ÷ live owners, and nothing below the floor. */
function grantOf(part: Open, state: LeaseState, owners: number, wants: readonly Want[]): bigint {
  let free: bigint | null = null;
  for (const bound of part.bounds) if (free === null || bound.freeNano < free) free = bound.freeNano;
  if (free !== null) free -= part.funds.endingNano;
  let peak = state.peakNano;
  for (const want of wants) if (want.amountNano > peak) peak = want.amountNano;
  if (free === null || free <= 0n || free < FLOOR_HOLDS * peak) return 0n;
  const parts = 2n * BigInt(Math.max(1, owners));
  const most = free / parts;
  const usable = part.usableNano > 0n ? part.usableNano : 0n;
  const target = (free + usable) / parts;
  if (part.usableNano * 2n > target) return 0n;
  const missing = target - part.usableNano;
  const grant = missing < most ? missing : most;
  return grant > 0n && part.usableNano + grant >= USEFUL_HOLDS * peak ? grant : 0n;
}

function extend(part: Open, amountNano: bigint): void {
  part.grantNano += amountNano;
  part.usableNano += amountNano;
  for (const bound of part.bounds) bound.freeNano -= amountNano;
}

function admit(want: Want, funds: readonly Open[]): Verdict {
  if (want.mode === 'claim' && funds.every((part) => covers(part, want.amountNano))) {
    for (const part of funds) part.usableNano -= want.amountNano;
    return { kind: 'lease' };
  }
  const short = firstShort(want, funds);
  if (short) return { kind: 'short', shortage: short };
  for (const part of funds) for (const bound of part.bounds) bound.freeNano -= want.amountNano;
  return { kind: 'row' };
}

/** A hold in a lease grows inside leases alone: they take exactly what it needs more. */
function enlarge(want: Want, funds: readonly Open[]): Verdict {
  const lacking = funds.filter((part) => !covers(part, want.amountNano));
  const short = firstShort(want, lacking);
  if (short) return { kind: 'short', shortage: short };
  for (const part of lacking) extend(part, want.amountNano);
  for (const part of funds) part.usableNano -= want.amountNano;
  return { kind: 'lease' };
}

function covers(part: Open, amountNano: bigint): boolean {
  return part.usableNano > 0n && part.usableNano >= amountNano;
}

/** Funds before caps, caps in the order day, 7-day, 30-day, quota (contract: admission/order). */
function firstShort(want: Want, funds: readonly Open[]): Shortage | null {
  for (const part of funds) {
    for (const bound of part.bounds) {
      if (enough(bound.freeNano, want)) continue;
      const { funds } = part;
      const inTheWay =
        funds.othersNano > 0n && enough(bound.freeNano + funds.othersNano, want)
          ? [{ kind: funds.kind, subjectId: funds.subjectId }]
          : [];
      return {
        code: bound.code,
        runningOnly: enough(bound.settledFreeNano, want),
        leases: inTheWay,
        boundNano: bound.boundNano,
        freesAtMs: bound.freesAtMs,
      };
    }
  }
  return null;
}

/**
 * Whether a call may start: anything is left before its own hold (contract: money/crossing-call), or all of the hold
 * where it must fit (contract: money/strict).
 */
function enough(freeNano: bigint, want: Want): boolean {
  return want.mustFit ? freeNano >= want.amountNano && freeNano > 0n : freeNano > 0n;
}
