import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FundRequest, HoldRequest, LeaseState } from '#lib/gateway/admission/money-store';
import { apportion, type LockedFunds, noneSimulated } from '#lib/gateway/admission/pure/apportion';

const funds = (freeNano: bigint, part: Partial<LockedFunds> = {}): LockedFunds => ({
  kind: 'workspace',
  subjectId: 'w',
  ownNano: 0n,
  othersNano: 0n,
  settledNano: freeNano,
  rowsNano: 0n,
  endingNano: 0n,
  simulated: noneSimulated,
  caps: [],
  budget: null,
  ...part,
});
const state = (part: Partial<LeaseState> = {}): LeaseState => ({
  subjectId: 'w',
  usableNano: 0n,
  keepNano: 0n,
  peakNano: 0n,
  grantable: true,
  reclaim: false,
  simulated: false,
  ...part,
});
const hold = (amountNano: bigint, part: Partial<HoldRequest> = {}): HoldRequest => ({
  callId: 'c',
  keyId: 'k',
  capped: false,
  amountNano,
  mustFit: false,
  mode: 'claim',
  atMs: 0,
  ...part,
});
const ask = (holds: readonly HoldRequest[], part: Partial<FundRequest> = {}): FundRequest => ({
  workspaceId: 'w',
  timeZone: 'UTC',
  atMs: 0,
  holds,
  workspace: state(),
  keys: [],
  recall: false,
  ...part,
});

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n);

describe('what is free, shared out among those who wait (contract: money/lease-size, money/lease-floor)', () => {
  it('exceeds what is free by less than one crossing hold, whatever is requested', () => {
    fc.assert(
      fc.property(
        fc.bigInt(-100n, 100_000n),
        fc.array(fc.record({ amount: fc.bigInt(0n, 5_000n), strict: fc.boolean() }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        (freeNano, list, owners) => {
          const holds = list.map(({ amount, strict }) => hold(amount, { mustFit: strict }));
          const workspace = funds(freeNano);
          const { answers, grants } = apportion(ask(holds), workspace, new Map(), owners);
          const granted = grants.get(workspace)?.grantedNano ?? 0n;
          const amounts = (kind: string) =>
            list.flatMap(({ amount }, position) => (answers[position]?.kind === kind ? [amount] : []));
          const rows = amounts('row');
          expect(granted).toBeLessThanOrEqual(freeNano > 0n ? freeNano / BigInt(2 * owners) : 0n);
          expect(sum(amounts('lease'))).toBeLessThanOrEqual(granted);
          const before = freeNano - granted - sum(rows.slice(0, -1));
          if (rows.length > 0) expect(before).toBeGreaterThan(0n);
        },
      ),
    );
  });

  it('admits nothing after the money is gone, and everything that fits before', () => {
    const { answers } = apportion(ask([hold(6n), hold(6n), hold(1n)]), funds(10n), new Map(), 1);
    expect(answers.map((answer) => answer.kind)).toEqual(['row', 'row', 'short']);
  });

  it('in strict workspaces skips what does not fit and admits what does', () => {
    const strict = { mustFit: true };
    const holds = [hold(6n, strict), hold(6n, strict), hold(4n, strict)];
    const { answers } = apportion(ask(holds), funds(10n), new Map(), 1);
    expect(answers.map((answer) => answer.kind)).toEqual(['row', 'short', 'row']);
  });

  it('covers a call by leases of both workspace and key, or by a row that counts for both', () => {
    const cap = {
      code: 'day_limit_reached',
      capNano: 100n,
      settledNano: 0n,
      rowsNano: 0n,
      endingNano: 0n,
      freesAtMs: 5,
    } as const;
    const key = funds(0n, { kind: 'key', subjectId: 'k', caps: [cap] });
    const holds = [60n, 60n, 60n].map((amount) => hold(amount, { capped: true }));
    const asked = ask(holds, { keys: [state({ subjectId: 'k' })] });
    const { answers } = apportion(asked, funds(1_000_000n), new Map([['k', key]]), 1);
    expect(answers).toMatchObject([
      { kind: 'row' },
      { kind: 'row' },
      { kind: 'short', shortage: { code: 'day_limit_reached', runningOnly: true, freesAtMs: 5, leases: [] } },
    ]);
  });

  it('admits nothing beyond a hard budget, whoever pays, and leases nothing above it', () => {
    const budget = { budgetNano: 1_000n, settledNano: 990n, endsAtMs: 7 };
    const { answers } = apportion(
      ask([hold(6n), hold(6n), hold(1n)]),
      funds(100_000n, { budget }),
      new Map(),
      1,
    );
    expect(answers).toMatchObject([
      { kind: 'row' },
      { kind: 'row' },
      {
        kind: 'short',
        shortage: { code: 'insufficient_balance', ofBudget: true, boundNano: 1_000n, freesAtMs: 7 },
      },
    ]);
    const simulated = { ...noneSimulated, settledNano: 100_000n };
    const workspace = funds(100_000n, {
      simulated,
      rowsNano: 10n,
      othersNano: 90n,
      budget: { ...budget, settledNano: 500n },
    });
    const leased = apportion(ask([hold(1n, { simulated: true })]), workspace, new Map(), 1);
    expect(leased.grants.get(workspace)?.grantedNano).toBe((1_000n - 500n - 100n) / 2n);
    // What a process may admit while the database is down is bounded by it too.
    expect(leased.left.get(workspace)?.freeNano).toBe((1_000n - 500n - 100n) / 2n);
    const empty = apportion(ask([hold(1n)]), funds(0n, { budget }), new Map(), 1);
    expect(empty.answers[0]).toMatchObject({ shortage: { ofBudget: false, boundNano: 0n } });
  });

  it("names another owner's lease only if its return would help", () => {
    const blocked = funds(50n, { othersNano: 60n });
    const { answers, recalls } = apportion(ask([hold(1n)]), blocked, new Map(), 2);
    expect(answers[0]).toMatchObject({ kind: 'short', shortage: { runningOnly: true } });
    expect(recalls).toEqual([{ kind: 'workspace', subjectId: 'w' }]);
    const gone = funds(-70n, { othersNano: 60n });
    expect(apportion(ask([hold(1n)]), gone, new Map(), 2)).toMatchObject({
      answers: [{ shortage: { runningOnly: false } }],
      recalls: [],
    });
  });

  it('returns its own unspent lease on the second look, and then leases nothing', () => {
    const own = funds(100n, { ownNano: 100n });
    const first = apportion(ask([hold(30n)]), own, new Map(), 1);
    expect(first.answers[0]?.kind).toBe('short');
    const workspace = state({ reclaim: true, keepNano: 20n, usableNano: 0n });
    const second = apportion(ask([hold(30n)], { workspace }), own, new Map(), 1);
    expect(second.answers[0]?.kind).toBe('row');
    expect(second.grants.size).toBe(0);
  });

  it('enlarges a lease by exactly what a running hold lacks, with or without a floor', () => {
    const workspace = funds(50n);
    const grow = hold(40n, { mode: 'grow-lease', mustFit: true });
    const asked = ask([grow], { workspace: state({ peakNano: 40n }) });
    const { answers, grants } = apportion(asked, workspace, new Map(), 1);
    expect(answers[0]?.kind).toBe('lease');
    expect(grants.get(workspace)).toEqual({ grantedNano: 40n, simulated: false });
  });
});

describe('simulated money (contract: money/simulated-money)', () => {
  const purse = (settledNano: bigint, simulatedNano: bigint, part: Partial<LockedFunds> = {}) =>
    funds(settledNano, { simulated: { ...noneSimulated, settledNano: simulatedNano }, ...part });
  const simulated = { simulated: true };

  it('admits only calls at the simulated provider, and the refusal of others says so', () => {
    const holds = [hold(1n), hold(1n, simulated), hold(0n)];
    const { answers } = apportion(ask(holds), purse(10n, 10n), new Map(), 1);
    const short = { kind: 'short', shortage: { besideSimulated: true, boundNano: 0n, runningOnly: false } };
    expect(answers).toMatchObject([short, { kind: 'row' }, short]);
  });

  it('leaves other calls what is not simulated, down to the crossing one', () => {
    const holds = [hold(6n), hold(6n), hold(6n), hold(40n, simulated), hold(1n, simulated)];
    const { answers } = apportion(ask(holds), purse(60n, 50n), new Map(), 1);
    expect(answers.map(({ kind }) => kind)).toEqual(['row', 'row', 'short', 'row', 'row']);
  });

  it('is leased to calls at the simulated provider, and no other call is booked in such a lease', () => {
    const workspace = purse(100_000n, 100_000n);
    const holds = [hold(10n, simulated), hold(10n), hold(10n, simulated)];
    const { answers, grants } = apportion(ask(holds), workspace, new Map(), 1);
    expect(grants.get(workspace)).toEqual({ grantedNano: 50_000n, simulated: true });
    expect(answers.map(({ kind }) => kind)).toEqual(['lease', 'short', 'lease']);
  });

  it('is not leased if other funds suffice for a lease, which calls at the simulated provider use too', () => {
    const workspace = purse(200_000n, 100_000n);
    const { answers, grants } = apportion(ask([hold(10n, simulated), hold(10n)]), workspace, new Map(), 1);
    expect(grants.get(workspace)).toEqual({ grantedNano: 50_000n, simulated: false });
    expect(answers.map(({ kind }) => kind)).toEqual(['lease', 'lease']);
  });

  it('stays the kind of a lease while anything is booked in it', () => {
    const own = { ownNano: 50n, simulated: { ...noneSimulated, settledNano: 100_000n, ownNano: 50n } };
    const workspace = purse(300_000n, 100_000n, own);
    const held = state({ simulated: true, keepNano: 50n });
    const { answers, grants } = apportion(
      ask([hold(10n), hold(10n, simulated)], { workspace: held }),
      workspace,
      new Map(),
      1,
    );
    expect(grants.get(workspace)?.simulated).toBe(true);
    expect(answers.map(({ kind }) => kind)).toEqual(['row', 'lease']);
  });

  it('of other owners is not asked back for a call that could not spend it', () => {
    const others = { othersNano: 60n, simulated: { ...noneSimulated, settledNano: 60n, othersNano: 60n } };
    const workspace = purse(60n, 60n, others);
    expect(apportion(ask([hold(1n)]), workspace, new Map(), 2).recalls).toEqual([]);
    expect(apportion(ask([hold(1n, simulated)]), workspace, new Map(), 2).recalls).toHaveLength(1);
  });

  it('never pays for a call that may go elsewhere, whatever is asked in any order', () => {
    const amounts = fc.bigInt(0n, 5_000n);
    fc.assert(
      fc.property(
        fc.bigInt(-100n, 50_000n),
        fc.bigInt(1n, 50_000n),
        fc.array(fc.record({ amount: amounts, simulated: fc.boolean(), mustFit: fc.boolean() }), {
          maxLength: 60,
        }),
        (realNano, simulatedNano, list) => {
          const holds = list.map(({ amount, ...part }) => hold(amount, part));
          const workspace = purse(realNano + simulatedNano, simulatedNano);
          const { answers, grants } = apportion(ask(holds), workspace, new Map(), 1);
          const grant = grants.get(workspace);
          const rows = list.filter((_, at) => answers[at]?.kind === 'row');
          const leased = list.filter((_, at) => answers[at]?.kind === 'lease');
          if (grant?.simulated) expect(leased.every((one) => one.simulated)).toBe(true);
          // Before the last of them was admitted, something was left.
          const real = rows.filter((one) => !one.simulated).map(({ amount }) => amount);
          const leasedReal = grant && !grant.simulated ? grant.grantedNano : 0n;
          if (real.length > 0) expect(realNano - leasedReal - sum(real.slice(0, -1))).toBeGreaterThan(0n);
          const all = rows.map(({ amount }) => amount);
          const left = realNano + simulatedNano - (grant?.grantedNano ?? 0n) - sum(all.slice(0, -1));
          if (all.length > 0) expect(left).toBeGreaterThan(0n);
        },
      ),
    );
  });
});
