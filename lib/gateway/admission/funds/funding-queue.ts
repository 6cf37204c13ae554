import pTimeout from 'p-timeout';
import { type Refusal, refusal } from '#lib/core/errors';
import type { Lease } from '#lib/gateway/admission/funds/lease-book';
import { LeaseLine, type LineParts } from '#lib/gateway/admission/funds/lease-line';
import { refuseShort, slidingHours } from '#lib/gateway/admission/funds/shortage';
import { storeAway, type Waiter } from '#lib/gateway/admission/funds/waiter';
import type { LeaseRef, Verdict } from '#lib/gateway/admission/money-store';

export interface FundingQueueParts extends LineParts {
  /** Brings this process's closed calls to the ledger; resolves once all that are closed now are posted. */
  flushSettlement(): Promise<void>;
  /** Whether closed calls of the workspace wait to be posted. */
  owes(workspaceId: string): boolean;
  /** Resolves once the rows of calls that ended without a charge are gone. */
  rowsRemoved(): Promise<void>;
  /** Removes a hold row that came too late to be of use. */
  removeRow(callId: string): void;
  report(error: unknown): void;
}

/** PostgreSQL's code of a statement whose `lock_timeout` has passed; its transaction has changed nothing. */
const lockNotAvailable = '55P03';
/** Most calls in one transaction. */
const BATCH = 500;
const FLUSH_MS = 2_000;
/** How long others may take to answer a recall (contract: money/recall). */
const RECALL_MS = 2_000;
const RECALL_POLL_MS = 25;
const ROUNDS = 3;

/** Where the calls of one workspace wait for PostgreSQL: all that wait share a transaction, in order. */
export class FundingQueue {
  readonly #id: string;
  readonly #parts: FundingQueueParts;
  #waiting: Waiter[] = [];
  #short: Waiter[] = [];
  readonly #wanting = new Set<Lease>();
  #timeZone = 'UTC';
  #serving = false;
  #looking = false;
  readonly #line: LeaseLine;

  constructor(workspaceId: string, parts: FundingQueueParts) {
    this.#id = workspaceId;
    this.#parts = parts;
    this.#line = new LeaseLine(workspaceId, parts);
  }

  get busy(): boolean {
    return this.#serving || this.#looking;
  }

  ask(waiter: Waiter): void {
    if (waiter.timeZone !== null) this.#timeZone = waiter.timeZone;
    this.#waiting.push(waiter);
    void this.#serve();
  }

  /** Asks for more before a lease runs out; nobody waits for it. */
  topUp(lease: Lease): void {
    lease.asking = true;
    this.#wanting.add(lease);
    void this.#serve();
  }

  /** Gives back what is unspent of these leases of the workspace. */
  giveBack(leases: readonly Lease[]): Promise<void> {
    return this.#line.giveBack(leases);
  }

  async #serve(): Promise<void> {
    if (this.#serving) return;
    this.#serving = true;
    while (this.#waiting.length > 0 || this.#wanting.size > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      const more = [...this.#wanting];
      this.#wanting.clear();
      const short = await this.#round(batch, more, new Set(), false);
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
    while (this.#short.length > 0) {
      const batch = this.#short.splice(0);
      try {
        await this.#parts.rowsRemoved();
        if (this.#parts.owes(this.#id)) {
          await pTimeout(this.#parts.flushSettlement(), {
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
      if (grew) short = await this.#round(short, [], reclaimed, true);
    }
    const blocked = short.filter((waiter) => waiter.shortage?.leases.length);
    await this.#refuse(short.filter((waiter) => !blocked.includes(waiter)));
    if (blocked.length === 0) return;
    if (await this.#answered(blocked)) {
      await this.#refuse(await this.#round(blocked, [], reclaimed, false));
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
  async #round(
    batch: readonly Waiter[],
    more: readonly Lease[],
    reclaimed: ReadonlySet<string>,
    recall: boolean,
  ): Promise<Waiter[]> {
    const waiters = batch.filter((waiter) => !waiter.done);
    if (waiters.length === 0 && more.length === 0) return [];
    const { allowance, clock } = this.#parts;
    // Even when the allowance has run out: what it admitted must be posted before more money is requested.
    if (allowance.away) {
      for (const lease of more) lease.notAsked(clock.mono());
      this.#goWithout(waiters);
      return [];
    }
    let verdicts: readonly Verdict[];
    try {
      const wants = waiters.map((waiter) => waiter.want);
      const timeZone = this.#timeZone;
      verdicts = (await this.#line.fund({ wants, timeZone, more, reclaimed, recall })).verdicts;
    } catch (error) {
      this.#fail(waiters, error);
      // The answer was lost, the transaction perhaps not; one that got no lock has written nothing.
      if (!isCode(error, lockNotAvailable)) for (const waiter of waiters) this.#tooLate(waiter);
      return [];
    }
    const short: Waiter[] = [];
    waiters.forEach((waiter, position) => {
      const verdict = verdicts[position];
      if (verdict?.kind === 'short') {
        waiter.shortage = verdict.shortage;
        short.push(waiter);
      } else if (waiter.done) {
        if (verdict?.kind === 'row') this.#tooLate(waiter);
      } else if (verdict) this.#take(waiter, verdict.kind);
    });
    return short;
  }

  async #refuse(waiters: readonly Waiter[]): Promise<void> {
    for (const waiter of waiters) {
      const { shortage, want } = waiter;
      if (!shortage || waiter.done) continue;
      const hours = slidingHours[shortage.code];
      const freesAtMs =
        hours === undefined || shortage.runningOnly
          ? shortage.freesAtMs
          : await this.#parts.money
              .freesAt(want.keyId, hours, shortage.boundNano, want.atMs)
              .catch(() => null);
      waiter.refuse(refuseShort(shortage, want, freesAtMs));
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

  #tooLate(waiter: Waiter): void {
    const { mode, callId } = waiter.want;
    if (mode === 'claim' || mode === 'claim-row') this.#parts.removeRow(callId);
  }
}

function shortSubject(waiter: Waiter, workspaceId: string): string {
  return waiter.shortage?.code === 'insufficient_balance' ? workspaceId : waiter.want.keyId;
}

function isCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
