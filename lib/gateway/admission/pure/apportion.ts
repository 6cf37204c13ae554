import type {
  CappedTag,
  Free,
  FundRequest,
  Grant,
  HoldAnswer,
  HoldRequest,
  LeaseRef,
  LeaseState,
  Shortage,
} from '#lib/gateway/admission/money-store';

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

/** The hard budget of a workspace, nano-dollars (contract: money/budget-mode). */
export interface BudgetRoom {
  readonly budgetNano: bigint;
  /** Posted in the month. */
  readonly settledNano: bigint;
  /** When the month ends, ms since the epoch. */
  readonly endsAtMs: number;
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
  readonly simulated: Simulated;
  readonly caps: readonly CapRoom[];
  /** null: a key, or a workspace without a hard budget. */
  readonly budget: BudgetRoom | null;
  /** Of a workspace: those of its tags with budgets that holds are asked for, by id; absent: none. */
  readonly tags?: ReadonlyMap<string, TagFunds>;
}

/**
 * Of the figures of the same names: simulated money, and what is held or may be held only by calls whose targets are all
 * simulated. Such calls spend it first and then everything else; no other call may touch it.
 */
export interface Simulated {
  readonly settledNano: bigint;
  readonly rowsNano: bigint;
  readonly ownNano: bigint;
  readonly othersNano: bigint;
}

export const noneSimulated: Simulated = { settledNano: 0n, rowsNano: 0n, ownNano: 0n, othersNano: 0n };

/** A tag with a budget, as the database has it under the lock of its workspace. Nothing of it is ever leased. */
export interface TagFunds {
  readonly tag: CappedTag;
  readonly caps: readonly CapRoom[];
}

export interface Apportioned {
  readonly answers: readonly HoldAnswer[];
  readonly grants: ReadonlyMap<LockedFunds, Grant>;
  /** What is left after them. */
  readonly left: ReadonlyMap<LockedFunds, Free>;
  /** Leases of other owners that are in the way. */
  readonly recalls: readonly LeaseRef[];
}

interface Bound {
  readonly code: Shortage['code'];
  readonly boundNano: bigint;
  readonly settledFreeNano: bigint;
  freeNano: bigint;
  readonly freesAtMs: number | null;
  /** Leased to other owners out of it. */
  readonly othersNano: bigint;
  /** Leaves simulated money out, and binds only calls that may go to a real provider. */
  readonly real: boolean;
  /** It is the budget of the workspace. */
  readonly ofBudget: boolean;
  /** It is the budget of this tag; null: it is not one. */
  readonly ofTag: CappedTag | null;
}

/** Funds while they are being shared out. */
interface Open {
  readonly funds: LockedFunds;
  readonly bounds: readonly Bound[];
  usableNano: bigint;
  grantNano: bigint;
  /** Whether the lease is one of simulated money too. */
  simulated: boolean;
}

/**
 * Shares out what is free among the holds, in their order (contract: money/crossing-call, money/caps): from a lease
 * where it covers, else as a row if anything is left before it. Called under row locks.
 * @param owners live owners, at least 1.
 */
export function apportion(
  request: FundRequest,
  workspace: LockedFunds,
  keys: ReadonlyMap<string, LockedFunds>,
  owners: number,
): Apportioned {
  const funds = open(workspace, request.workspace, owners, request.holds);
  const caps = new Map<string, Open>();
  for (const state of request.keys) {
    const funds = keys.get(state.subjectId);
    const holds = request.holds.filter((hold) => hold.keyId === state.subjectId);
    if (funds) caps.set(state.subjectId, open(funds, state, owners, holds));
  }
  const bounded = new Map(
    [...(workspace.tags ?? [])].map(([id, one]) => [id, openTag(one, workspace)] as const),
  );
  const recalls = new Map<string, LeaseRef>();
  const answers = request.holds.map((hold): HoldAnswer => {
    const cap = hold.capped ? caps.get(hold.keyId) : undefined;
    const payers = cap ? [funds, cap] : [funds];
    for (const { id } of hold.tags ?? []) {
      const tag = bounded.get(id);
      if (tag) payers.push(tag);
    }
    const answer = hold.mode === 'grow-lease' ? enlarge(hold, payers) : admit(hold, payers);
    if (answer.kind === 'short') {
      for (const ref of answer.shortage.leases) recalls.set(`${ref.kind}:${ref.subjectId}`, ref);
    }
    return answer;
  });
  const grants = new Map<LockedFunds, Grant>();
  for (const { funds: of, grantNano: grantedNano, simulated } of [funds, ...caps.values()]) {
    if (grantedNano > 0n) grants.set(of, { grantedNano, simulated });
  }
  const left = new Map([funds, ...caps.values()].map((part) => [part.funds, leftOf(part)] as const));
  return { answers, grants, left, recalls: [...recalls.values()] };
}

function leftOf(part: Open): Free {
  const least = (bounds: readonly Bound[]) =>
    bounds.reduce<bigint | null>(
      (low, { freeNano }) => (low === null || freeNano < low ? freeNano : low),
      null,
    );
  const without = (nano: bigint | null) => (nano ?? 0n) - part.funds.endingNano;
  return { freeNano: without(least(binding(part, true))), realNano: without(least(part.bounds)) };
}

/** Payers without a lease: only a row is booked in them. */
function openTag({ tag, caps }: TagFunds, workspace: LockedFunds): Open {
  const funds = { ...workspace, caps, ownNano: 0n, othersNano: 0n, simulated: noneSimulated, budget: null };
  const bounds = capsOf(funds, 0n).map((bound) => ({ ...bound, ofTag: tag }));
  return { funds, bounds, usableNano: 0n, grantNano: 0n, simulated: false };
}

function open(funds: LockedFunds, state: LeaseState, owners: number, holds: readonly HoldRequest[]): Open {
  const kept = state.reclaim && funds.ownNano > state.keepNano ? state.keepNano : funds.ownNano;
  const part: Open = {
    funds,
    bounds:
      funds.kind === 'workspace' ? [...boundsOf(funds, kept), ...budgetOf(funds, kept)] : capsOf(funds, kept),
    usableNano: state.reclaim ? 0n : state.usableNano,
    grantNano: 0n,
    simulated: funds.ownNano > 0n ? funds.simulated.ownNano > 0n : state.simulated,
  };
  if (state.reclaim || !state.grantable) return part;
  // A lease is of one kind, which it keeps while calls are booked in it: of real money if there is enough for one.
  const empty = funds.ownNano <= 0n && state.keepNano === 0n;
  if (empty) part.simulated = false;
  extend(part, grantOf(part, state, owners, holds));
  if (empty && part.grantNano === 0n && holds.some(({ simulated }) => simulated)) {
    part.simulated = true;
    extend(part, grantOf(part, state, owners, holds));
  }
  return part;
}

/**
 * All funds, and if some are simulated money, the rest for calls that may go to a real provider. What simulated
 * calls hold beyond the simulated money is taken from the rest, which the bound of all funds takes care of.
 */
function boundsOf(funds: LockedFunds, kept: bigint): Bound[] {
  const { settledNano, rowsNano, ownNano, othersNano, simulated } = funds;
  const all: Bound = {
    code: 'insufficient_balance',
    boundNano: settledNano,
    settledFreeNano: settledNano,
    freeNano: settledNano - rowsNano - kept - othersNano,
    freesAtMs: null,
    othersNano,
    real: false,
    ofBudget: false,
    ofTag: null,
  };
  if (simulated.settledNano <= 0n) return [all];
  const restNano = settledNano - simulated.settledNano;
  const othersRealNano = othersNano - simulated.othersNano;
  // The lease of a process is one row, of one kind.
  const keptRealNano = ownNano > 0n && simulated.ownNano > 0n ? 0n : kept;
  const rest: Bound = {
    ...all,
    boundNano: restNano,
    settledFreeNano: restNano,
    freeNano: restNano - (rowsNano - simulated.rowsNano) - keptRealNano - othersRealNano,
    othersNano: othersRealNano,
    real: true,
  };
  return [rest, all];
}

/** What is posted in the month and everything that is held or leased, of all money. */
function budgetOf({ budget, rowsNano, othersNano }: LockedFunds, kept: bigint): Bound[] {
  if (budget === null) return [];
  const { budgetNano, settledNano, endsAtMs } = budget;
  return [
    {
      code: 'insufficient_balance',
      boundNano: budgetNano,
      settledFreeNano: budgetNano - settledNano,
      freeNano: budgetNano - settledNano - rowsNano - kept - othersNano,
      freesAtMs: endsAtMs,
      othersNano,
      real: false,
      ofBudget: true,
      ofTag: null,
    },
  ];
}

function capsOf({ caps, othersNano }: LockedFunds, kept: bigint): Bound[] {
  return caps.map((cap) => ({
    code: cap.code,
    boundNano: cap.capNano,
    settledFreeNano: cap.capNano - cap.settledNano,
    freeNano: cap.capNano - cap.settledNano - cap.rowsNano - kept - othersNano,
    freesAtMs: cap.freesAtMs,
    othersNano,
    real: false,
    ofBudget: false,
    ofTag: null,
  }));
}

/** What binds a call or a lease. @param simulated it may spend simulated money. */
function binding({ bounds }: Open, simulated: boolean | undefined): readonly Bound[] {
  return simulated ? bounds.filter(({ real }) => !real) : bounds;
}

/** At most half of what is free ÷ live owners, and nothing below the floor. */
function grantOf(part: Open, state: LeaseState, owners: number, holds: readonly HoldRequest[]): bigint {
  let free: bigint | null = null;
  for (const { freeNano } of binding(part, part.simulated))
    if (free === null || freeNano < free) free = freeNano;
  if (free !== null) free -= part.funds.endingNano;
  let peak = state.peakNano;
  for (const hold of holds) if (hold.amountNano > peak) peak = hold.amountNano;
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
  for (const bound of binding(part, part.simulated)) bound.freeNano -= amountNano;
}

function admit(hold: HoldRequest, funds: readonly Open[]): HoldAnswer {
  const leased = hold.mode === 'claim' && funds.every((part) => !part.simulated || hold.simulated);
  if (leased && funds.every((part) => covers(part, hold.amountNano))) {
    for (const part of funds) part.usableNano -= hold.amountNano;
    return { kind: 'lease' };
  }
  const short = firstShort(hold, funds, (part) => binding(part, hold.simulated));
  if (short) return { kind: 'short', shortage: short };
  for (const part of funds) {
    for (const bound of binding(part, hold.simulated)) bound.freeNano -= hold.amountNano;
  }
  return { kind: 'row' };
}

/** A hold in a lease grows only inside leases: they take exactly what it needs more. */
function enlarge(hold: HoldRequest, funds: readonly Open[]): HoldAnswer {
  const lacking = funds.filter((part) => !covers(part, hold.amountNano));
  const short = firstShort(hold, lacking, (part) => binding(part, part.simulated));
  if (short) return { kind: 'short', shortage: short };
  for (const part of lacking) extend(part, hold.amountNano);
  for (const part of funds) part.usableNano -= hold.amountNano;
  return { kind: 'lease' };
}

function covers(part: Open, amountNano: bigint): boolean {
  return part.usableNano > 0n && part.usableNano >= amountNano;
}

/** Funds before the budget and caps, caps in the order day, 7-day, 30-day, quota (contract: admission/order). */
function firstShort(
  hold: HoldRequest,
  funds: readonly Open[],
  boundsOf: (part: Open) => readonly Bound[],
): Shortage | null {
  for (const part of funds) {
    for (const bound of boundsOf(part)) {
      if (enough(bound.freeNano, hold)) continue;
      const { funds } = part;
      const inTheWay =
        bound.othersNano > 0n && enough(bound.freeNano + bound.othersNano, hold)
          ? [{ kind: funds.kind, subjectId: funds.subjectId }]
          : [];
      return {
        code: bound.code,
        runningOnly: enough(bound.settledFreeNano, hold),
        leases: inTheWay,
        boundNano: bound.boundNano,
        besideSimulated: bound.real,
        ofBudget: bound.ofBudget,
        ofTag: bound.ofTag,
        freesAtMs: bound.freesAtMs,
      };
    }
  }
  return null;
}

/**
 * Whether a call may start: anything is left before its own hold (contract: money/crossing-call), or all of the hold
 * if it must fit (contract: money/strict).
 */
function enough(freeNano: bigint, hold: HoldRequest): boolean {
  return hold.mustFit ? freeNano >= hold.amountNano && freeNano > 0n : freeNano > 0n;
}
