import pTimeout from 'p-timeout';
import { type Refusal, refusal } from '#lib/core/errors';
import { isTimeZone } from '#lib/core/time-zone';
import type { Allowance } from '#lib/gateway/admission/allowance';
import type { Lease, LeaseBook } from '#lib/gateway/admission/lease-book';
import type {
  FundAnswer,
  HoldAnswer,
  HoldRequest,
  LeaseRef,
  MoneyStore,
  Shortage,
  Spender,
} from '#lib/gateway/admission/money-store';
import type { OpenCalls } from '#lib/gateway/admission/open-calls';
import type { Owner } from '#lib/gateway/admission/owner';
import { refuseShort, slidingHours, storeAway } from '#lib/gateway/admission/pure/shortage';
import type { UnwantedRows } from '#lib/gateway/admission/unwanted-rows';
import type { Clock } from '#lib/platform/clock';

/** What a process funds calls with. */
export interface FundingParts {
  readonly clock: Clock;
  readonly money: MoneyStore;
  readonly leases: LeaseBook;
  readonly owner: Owner;
  readonly allowance: Allowance;
  readonly calls: OpenCalls;
  readonly unwanted: UnwantedRows;
  /** Brings this process's closed calls to the ledger; resolves once all that are closed now are posted. */
  flushSettlement(): Promise<void>;
  /** Errors that no call is waiting for. */
  report(error: unknown): void;
}

/** A call that waits for PostgreSQL to fund it. */
interface Waiter {
  readonly request: HoldRequest;
  /** IANA zone of the workspace; null: that of its last claim. */
  readonly timeZone: string | null;
  /**
   * Takes its money; `allowance`: the database is away.
   * @returns false when the lease was spent meanwhile: ask again; or the allowance is nothing for it.
   */
  take(from: Source): boolean;
  refuse(refused: Refusal): void;
  /** It was answered, or has stopped waiting. */
  done: boolean;
  /** What it is refused with when it has waited too long; null: that the database cannot be reached. */
  late: Refusal | null;
  shortage: Shortage | null;
}

/** Where the money of a call comes from. */
export type Source = 'lease' | 'row' | 'allowance';

/** What one transaction is to do. */
interface Round {
  readonly waiters: readonly Waiter[];
  /** Leases to enlarge though no call waits for it. */
  readonly more: readonly Lease[];
  /** Subjects whose unspent leases go back first. */
  readonly reclaimed: ReadonlySet<string>;
  readonly recall: boolean;
}

/** PostgreSQL's code of a statement whose `lock_timeout` has passed; its transaction has changed nothing. */
const lockNotAvailable = '55P03';
/** Most calls in one transaction. */
const BATCH = 500;
/** How long a call waits for PostgreSQL in all. */
const WAIT_MS = 6_000;
const FLUSH_MS = 2_000;
/** How long others may take to answer a recall (contract: money/recall). */
const RECALL_MS = 2_000;
const RECALL_POLL_MS = 25;
const ROUNDS = 3;

type Answer<Value> = Value | Refusal | Promise<Value | Refusal>;

/**
 * @param timeZone as stored; an unknown one is refused later (contract: admission/stored-limits), not here.
 * @param answer called exactly once.
 * @param take the answer once there is money; null when the lease was spent meanwhile.
 */
export function waiterOf<Value>(
  request: HoldRequest,
  timeZone: string | null,
  answer: (value: Answer<Value>) => void,
  take: (from: Source) => Answer<Value> | null,
): Waiter {
  const finish = (value: Answer<Value>): void => {
    if (waiter.done) return;
    clearTimeout(timer);
    waiter.done = true;
    answer(value);
  };
  const waiter: Waiter = {
    request,
    timeZone: timeZone === null || isTimeZone(timeZone) ? timeZone : 'UTC',
    done: false,
    late: null,
    shortage: null,
    refuse: finish,
    take: (from) => {
      const taken = take(from);
      if (taken === null) return false;
      finish(taken);
      return true;
    },
  };
  const timer = setTimeout(() => finish(waiter.late ?? storeAway()), WAIT_MS);
  return waiter;
}

/**
 * Where the calls of one workspace wait for PostgreSQL: all that wait share a transaction, in order. All changes of the
 * leases of the workspace and its keys are made here, one after another, so that memory never counts more money than
 * the database has leased to this process.
 */
export class FundingQueue {
  readonly #id: string;
  readonly #parts: FundingParts;
  #waiting: Waiter[] = [];
  #short: Waiter[] = [];
  readonly #wanting = new Set<Lease>();
  #timeZone = 'UTC';
  #serving = false;
  #looking = false;
  #lastChange: Promise<unknown> = Promise.resolve();

  constructor(workspaceId: string, parts: FundingParts) {
    this.#id = workspaceId;
    this.#parts = parts;
  }

  get busy(): boolean {
    return this.#serving || this.#looking;
  }

  ask(waiter: Waiter): void {
    if (waiter.timeZone !== null) this.#timeZone = waiter.timeZone;
    this.#waiting.push(waiter);
    void this.#serve();
  }

  /** Asks for more before a lease runs out; no call waits for it. */
  topUp(lease: Lease): void {
    lease.asking = true;
    this.#wanting.add(lease);
    void this.#serve();
  }

  /** Gives back what is unspent of a lease of the workspace, and answers a recall by that. */
  giveBack(lease: Lease): Promise<void> {
    return this.#inTurn(async () => {
      const kept = lease.shrink();
      await this.#parts.money.giveBack(kept);
      lease.returned(kept.heldNano);
    });
  }

  async #serve(): Promise<void> {
    if (this.#serving) return;
    this.#serving = true;
    while (this.#waiting.length > 0 || this.#wanting.size > 0) {
      const waiters = this.#waiting.splice(0, BATCH);
      const more = [...this.#wanting];
      this.#wanting.clear();
      const short = await this.#round({ waiters, more, reclaimed: new Set(), recall: false });
      if (short.length === 0) continue;
      this.#short.push(...short);
      void this.#lookAgain();
    }
    this.#serving = false;
  }

  /**
   * Before a 402 this process's closed calls are posted and its unspent leases given back; then the database is asked
   * again (contract: money/refusal-asks).
   */
  async #lookAgain(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const { unwanted, calls, flushSettlement } = this.#parts;
    while (this.#short.length > 0) {
      const batch = this.#short.splice(0);
      try {
        await unwanted.remove([]);
        if (calls.owes(this.#id)) {
          await pTimeout(flushSettlement(), {
            milliseconds: FLUSH_MS,
            message: 'settlement did not catch up in time',
          });
        }
        await this.#reclaim(batch);
      } catch (error) {
        this.#fail(batch, error);
      }
    }
    this.#looking = false;
  }

  async #reclaim(batch: Waiter[]): Promise<void> {
    const reclaimed = new Set<string>();
    let short = batch;
    let grew = true;
    for (let round = 0; grew && round < ROUNDS && short.length > 0; round++) {
      const before = reclaimed.size;
      for (const waiter of short) reclaimed.add(shortSubject(waiter, this.#id));
      grew = reclaimed.size > before;
      if (grew) short = await this.#round({ waiters: short, more: [], reclaimed, recall: true });
    }
    const blocked = short.filter((waiter) => waiter.shortage?.leases.length);
    await this.#refuse(short.filter((waiter) => !blocked.includes(waiter)));
    if (blocked.length === 0) return;
    if (await this.#answered(blocked)) {
      await this.#refuse(await this.#round({ waiters: blocked, more: [], reclaimed, recall: false }));
      return;
    }
    for (const waiter of blocked) {
      waiter.refuse(
        refusal(
          'local_quota_not_configured',
          'Funds of this workspace are still reserved by a gateway process that does not answer; retry in a minute.',
        ),
      );
    }
  }

  /** Waits until other owners have given back their unspent leases. @returns false when they take too long. */
  async #answered(blocked: readonly Waiter[]): Promise<boolean> {
    const refs = new Map<string, LeaseRef>();
    for (const waiter of blocked) {
      for (const ref of waiter.shortage?.leases ?? []) refs.set(`${ref.kind}:${ref.subjectId}`, ref);
    }
    const { clock, money } = this.#parts;
    const untilMono = clock.mono() + RECALL_MS;
    while (await money.awaiting([...refs.values()])) {
      if (clock.mono() >= untilMono) return false;
      await new Promise((resolve) => setTimeout(resolve, RECALL_POLL_MS));
    }
    return true;
  }

  /** One transaction. @returns those that it could not serve, with their shortage. */
  async #round(round: Round): Promise<Waiter[]> {
    const waiters = round.waiters.filter((waiter) => !waiter.done);
    if (waiters.length === 0 && round.more.length === 0) return [];
    const { allowance, clock } = this.#parts;
    // Even when the allowance has run out: what it admitted must be posted before more money is requested.
    if (allowance.away) {
      for (const lease of round.more) lease.notAsked(clock.mono());
      this.#goWithout(waiters);
      return [];
    }
    let answers: readonly HoldAnswer[];
    try {
      ({ answers } = await this.#inTurn(() => this.#fund({ ...round, waiters })));
    } catch (error) {
      this.#fail(waiters, error);
      // The answer was lost, the transaction perhaps not; one that got no lock has written nothing.
      if (!isCode(error, lockNotAvailable)) for (const waiter of waiters) this.#tooLate(waiter);
      return [];
    }
    const short: Waiter[] = [];
    waiters.forEach((waiter, position) => {
      const answer = answers[position];
      if (answer?.kind === 'short') {
        waiter.shortage = answer.shortage;
        short.push(waiter);
      } else if (waiter.done) {
        if (answer?.kind === 'row') this.#tooLate(waiter);
      } else if (answer) this.#take(waiter, answer.kind);
    });
    return short;
  }

  /**
   * One transaction for all requests, its grants entered into the leases.
   * @throws when the store cannot be asked; what it did is then unknown.
   */
  async #fund(round: Round): Promise<FundAnswer> {
    const { clock, leases, allowance } = this.#parts;
    const nowMono = clock.mono();
    const workspace = leases.workspace(this.#id, nowMono);
    const keys = new Set(round.more.filter((lease) => lease.kind === 'key'));
    for (const { request } of round.waiters) {
      if (request.capped) keys.add(leases.key(request.keyId, this.#id, nowMono));
    }
    const touched = [workspace, ...keys];
    for (const lease of touched) lease.asking = true;
    try {
      const first = await this.#ask(round, workspace, [...keys], false);
      const answer = first.alive ? first : await this.#ask(round, workspace, [...keys], true);
      if (!answer.alive) throw new Error('this process was closed as an owner twice in a row');
      for (const one of answer.left) allowance.learn(one.subjectId, one, answer.owners, clock.mono());
      for (const lease of touched) {
        if (round.reclaimed.has(lease.subjectId)) lease.owesReturn = false;
        const grant = answer.grants.find(
          (one) => one.kind === lease.kind && one.subjectId === lease.subjectId,
        );
        lease.grant(grant?.grantedNano ?? 0n, clock.mono(), grant?.simulated);
      }
      return answer;
    } catch (error) {
      // While the store is away it is not asked for more with every call.
      for (const lease of touched) lease.grant(0n, clock.mono());
      throw error;
    } finally {
      for (const lease of touched) lease.asking = false;
    }
  }

  async #ask(round: Round, workspace: Lease, keys: readonly Lease[], closed: boolean): Promise<FundAnswer> {
    const { clock, money, owner } = this.#parts;
    await owner.ensure(closed);
    const { epoch } = owner;
    const stateOf = (lease: Lease) => {
      const reclaim = round.reclaimed.has(lease.subjectId);
      if (reclaim) lease.shrink();
      return lease.state(clock.mono(), reclaim);
    };
    const answer = await money.fund({
      workspaceId: this.#id,
      timeZone: this.#timeZone,
      atMs: clock.now(),
      holds: round.waiters.map(({ request }) => request),
      workspace: stateOf(workspace),
      keys: keys.map(stateOf),
      recall: round.recall,
    });
    if (owner.epoch !== epoch) throw new Error('the leases of this process became void while it asked');
    return answer;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#lastChange.then(work);
    this.#lastChange = turn.catch(() => undefined);
    return turn;
  }

  async #refuse(waiters: readonly Waiter[]): Promise<void> {
    for (const waiter of waiters) {
      const { shortage, request } = waiter;
      if (!shortage || waiter.done) continue;
      const hours = slidingHours[shortage.code];
      const freesAtMs =
        hours === undefined || shortage.runningOnly
          ? shortage.freesAtMs
          : await this.#parts.money
              .freesAt(spenderOf(shortage, request), hours, shortage.boundNano, request.atMs)
              .catch(() => null);
      waiter.refuse(refuseShort(shortage, request, freesAtMs));
    }
  }

  #take(waiter: Waiter, from: 'lease' | 'row'): void {
    try {
      if (!waiter.take(from)) this.ask(waiter);
    } catch (error) {
      this.#fail([waiter], error);
      if (from === 'row') this.#tooLate(waiter);
    }
  }

  #fail(waiters: readonly Waiter[], error: unknown): void {
    const { report, allowance, clock, money } = this.#parts;
    report(error);
    if (money.isAway(error) && allowance.failed(clock.mono())) {
      this.#goWithout(waiters);
      return;
    }
    for (const waiter of waiters) {
      if (waiter.done) continue;
      if (isCode(error, lockNotAvailable)) this.#askAgain(waiter);
      else waiter.refuse(this.#refusalOf(error));
    }
  }

  /** Another transaction kept the balance locked for as long as a statement waits; the call waits longer. */
  #askAgain(waiter: Waiter): void {
    waiter.late = refusal(
      'local_quota_not_configured',
      "Other transactions have kept this workspace's balance locked for 6 s; retry in a few seconds.",
    );
    this.ask(waiter);
  }

  #refusalOf(error: unknown): Refusal {
    if (isCode(error, '22023')) {
      return refusal(
        'rate_limit_config_invalid',
        "The database does not know this workspace's time zone; choose another one in its settings.",
      );
    }
    return storeAway(
      this.#parts.allowance.away ? 'it has been away for longer than calls go on without it' : null,
    );
  }

  /** The database is away: calls are admitted by the allowance, or refused at once. */
  #goWithout(waiters: readonly Waiter[]): void {
    for (const waiter of waiters) {
      if (!waiter.done && !waiter.take('allowance')) waiter.refuse(storeAway());
    }
  }

  /** Removes a hold row that came too late to be of use. */
  #tooLate({ request: { mode, callId } }: Waiter): void {
    if (mode === 'claim' || mode === 'claim-row') void this.#parts.unwanted.remove([callId]);
  }
}

/** The queues of all workspaces that calls have come for. */
export class FundingQueues {
  readonly #parts: FundingParts;
  readonly #queues = new Map<string, FundingQueue>();

  constructor(parts: FundingParts) {
    this.#parts = parts;
  }

  of(workspaceId: string): FundingQueue {
    let queue = this.#queues.get(workspaceId);
    if (!queue) {
      queue = new FundingQueue(workspaceId, this.#parts);
      this.#queues.set(workspaceId, queue);
    }
    return queue;
  }

  /** Another process asks for a lease: what is unspent goes back, and no more is leased for a while. */
  recall({ kind, subjectId }: LeaseRef): void {
    const { leases, clock, report } = this.#parts;
    const lease = leases.find(kind, subjectId);
    if (!lease) return;
    lease.pause(clock.mono());
    this.of(lease.workspaceId).giveBack(lease).catch(report);
  }

  /** Drops queues that do nothing, of workspaces without a lease. */
  sweep(): void {
    for (const [id, queue] of this.#queues) {
      if (!queue.busy && !this.#parts.leases.find('workspace', id)) this.#queues.delete(id);
    }
  }
}

function spenderOf({ ofTag }: Shortage, { keyId }: HoldRequest): Spender {
  return ofTag ? { tagId: ofTag.id } : { keyId };
}

/** Of a tag nothing is leased: to give back for it means only to ask once more. */
function shortSubject(waiter: Waiter, workspaceId: string): string {
  const tag = waiter.shortage?.ofTag;
  if (tag) return tag.id;
  return waiter.shortage?.code === 'insufficient_balance' ? workspaceId : waiter.request.keyId;
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
