import type { StoredLimits } from '#lib/core/facts/snapshot';
import { type Breaker, type Mode, settleMs } from '#lib/gateway/limits/breaker';
import { type Entry, newEntry } from '#lib/gateway/limits/pure/entries';
import type { CallWeight, Fleet, LimitWaits } from '#lib/gateway/limits/pure/limits';
import {
  type LimitStore,
  type PermitAnswer,
  type PermitRequest,
  slotLifeMs,
} from '#lib/gateway/limits/pure/permit-request';
import { type Held, Permits } from '#lib/gateway/limits/pure/permits';
import type { Clock } from '#lib/platform/clock';

/** The fleet as it was read last; until then, only this process. */
export interface FollowedFleet {
  now(): Fleet;
  start(): Promise<void>;
  stop(): void;
}

export interface SharedLimitParts {
  readonly clock: Clock;
  readonly store: LimitStore;
  /** Unique for each life of this process, without a dot. */
  readonly process: string;
  readonly fleet: FollowedFleet;
  /** The store has failed: from now on this process keeps to its share. */
  onLost(error: unknown): void;
  onBack(): void;
  /** Errors that no call waits for. */
  report(error: unknown): void;
  /** Runs `work` after `ms`; the usual timers by default. @returns what cancels it. */
  later?(ms: number, work: () => void): () => void;
}

/** What the queues of all workspaces share in a process. */
export interface LimitQueueParts extends Required<SharedLimitParts> {
  readonly breaker: Breaker;
  /** Counts up, for turns and names of entries. */
  next(): number;
}

/** What the shared limits say to a call. */
export type SharedAnswer =
  /** It has what it needs, of each of its subjects, until it is given back or its call ends. */
  | { readonly kind: 'held'; readonly held: readonly Held[] }
  | { readonly kind: 'refused'; readonly waits: readonly LimitWaits[] }
  /** The store is away: this process decides by its share of the limits. */
  | { readonly kind: 'alone' };

/** What a call counts as, and against whose limits. */
export interface LimitRequest {
  readonly weight: CallWeight;
  /** At least one. */
  readonly subjects: readonly Permits[];
}

interface Waiting {
  readonly request: LimitRequest;
  readonly decided: (answer: SharedAnswer) => void;
  /** How often it was tried again. */
  tries: number;
}

interface Sent {
  readonly request: PermitRequest;
  /** In the order of its subjects: the entry that it makes for each. */
  readonly entries: ReadonlyMap<Permits, Entry>;
  readonly calls: readonly Waiting[];
  readonly sentMono: number;
  /** It reports nothing, and asks only whether the store still has its state: when it fails, nothing is lost. */
  readonly probes: boolean;
}

/** Most calls and most subjects of one permit request. */
const MOST_CALLS = 200;
const MOST_SUBJECTS = 100;
/** Longest delay before changes are reported to the store, ms. */
const REPORT_MS = 1_000;
/** Answers in a row that report a lost state, after which the store counts as away. */
const MOST_LOSSES = 2;
/** Slots are confirmed well before the store gives them up, ms. */
const CONFIRM_MS = slotLifeMs / 4;
/** Pause before a call that only slots of other processes stop is tried again: one may be on its way back; ms. */
const RETRY_MS = 25;
const MOST_RETRIES = 50;
/** Least pause between the last permit request and one in advance, ms. */
const ADVANCE_MS = 100;
/**
 * A key or workspace that no call has used for this long is forgotten, ms: it has left every window, and the store may
 * have dropped it. No call waits so long for permits or for its funds.
 */
const FORGET_MS = 60_000;
/** How often permits to forget are looked for, ms. */
const SWEEP_MS = 5_000;
/** How long the first permit request after a failure may take, ms; no call waits for it. */
const PROBE_MS = 1_000;

/** All that this process asks the store about one workspace and its keys: one request at a time. Monotonic ms. */
export class LimitQueue {
  readonly workspaceId: string;
  readonly #parts: LimitQueueParts;
  readonly #permits = new Map<string, Permits>();
  /** Those that may have something to report, least recently reported first: a workspace may have 100,000 others. */
  readonly #touched = new Set<Permits>();
  /** Those of which the store has lost what it knew. */
  #lost = new Set<Permits>();
  #waiting: Waiting[] = [];
  #retries = 0;
  #busy = false;
  #running: Promise<void> = Promise.resolve();
  #urgent = false;
  #reporting = false;
  #epoch: string | null = null;
  #askedMono = Number.NEGATIVE_INFINITY;
  #answeredMono = Number.NEGATIVE_INFINITY;
  #settledAtMono = Number.NEGATIVE_INFINITY;
  #sweptMono = Number.NEGATIVE_INFINITY;
  #losses = 0;

  constructor(workspaceId: string, parts: LimitQueueParts) {
    this.workspaceId = workspaceId;
    this.#parts = parts;
  }

  /** The permits of the workspace or of one of its keys, with its current limits. */
  permitsOf(id: string, limits: StoredLimits, nowMono: number): Permits {
    let permits = this.#permits.get(id);
    if (!permits) {
      permits = new Permits(id, limits, () => `${this.#parts.process}.u${this.#parts.next()}`);
      this.#permits.set(id, permits);
    }
    permits.limits = limits;
    permits.requestedMono = nowMono;
    this.#touched.add(permits);
    return permits;
  }

  /** A call has changed what it holds of them. */
  touch(permits: Permits): void {
    if (this.#permits.get(permits.id) === permits) this.#touched.add(permits);
  }

  mode(nowMono: number): Mode {
    const mode = this.#parts.breaker.mode(nowMono);
    return mode === 'shared' && nowMono < this.#settledAtMono ? 'both' : mode;
  }

  /** Asks for a call. Never waits longer than the store's patience. */
  ask(request: LimitRequest): Promise<SharedAnswer> {
    return new Promise((decided) => {
      this.#waiting.push({ request, decided, tries: 0 });
      this.#send();
    });
  }

  /** Whether so many calls wait to be tried again that no more may. */
  get retriesFull(): boolean {
    return this.#retries >= MOST_RETRIES;
  }

  /** Reports to the store within `ms`. */
  reportWithin(ms: number): void {
    if (this.#reporting) return;
    this.#reporting = true;
    this.#parts.later(ms, () => {
      this.#reporting = false;
      this.#urgent = true;
      this.#send();
    });
  }

  /** Asks for permits before a call has to wait for them. */
  advance(nowMono: number): void {
    if (!this.#busy && nowMono - this.#askedMono >= ADVANCE_MS) {
      this.#urgent = true;
      this.#send();
    }
  }

  /** Reports what has waited long enough. @returns whether there is anything left that counts. */
  tick(nowMono: number): boolean {
    if (nowMono - this.#sweptMono >= SWEEP_MS) this.#sweep(nowMono);
    // A store that lost its state is told so even if nothing is going on.
    const probe = this.#permits.size > 0 && nowMono - this.#answeredMono >= CONFIRM_MS;
    if (probe || this.#lost.size > 0 || this.#hasDueReport(nowMono)) {
      this.#urgent = true;
      this.#send();
    }
    return this.#permits.size > 0 || this.#waiting.length > 0 || this.#busy;
  }

  #hasDueReport(nowMono: number): boolean {
    const mayReport = nowMono - this.#askedMono >= REPORT_MS;
    for (const permits of this.#touched) {
      if (permits.slots.used > 0 && nowMono - permits.reportedMono >= CONFIRM_MS) return true;
      if (mayReport && permits.hasChanges(nowMono)) return true;
    }
    return false;
  }

  #sweep(nowMono: number): void {
    this.#sweptMono = nowMono;
    for (const [id, permits] of this.#permits) {
      const lastMono = Math.max(permits.reportedMono, permits.requestedMono);
      if (nowMono - lastMono < FORGET_MS || !permits.idle(nowMono)) continue;
      this.#permits.delete(id);
      this.#touched.delete(permits);
      this.#lost.delete(permits);
    }
  }

  /** Reports all that is left to report, at the end of this process. */
  async leave(): Promise<void> {
    await this.#running;
    this.#urgent = true;
    this.#send();
    await this.#running;
  }

  #send(): void {
    if (this.#busy || this.#permits.size === 0 || (this.#waiting.length === 0 && !this.#urgent)) return;
    const { breaker, clock } = this.#parts;
    const nowMono = clock.mono();
    this.#urgent = false;
    if (!breaker.tryAsk(nowMono)) {
      for (const { decided } of this.#waiting.splice(0)) decided({ kind: 'alone' });
      return;
    }
    this.#busy = true;
    const sent = this.#prepare(nowMono);
    this.#running = this.#carryOut(sent)
      .then(
        (answer) => this.#answered(sent, answer),
        (error: unknown) => this.#failed(sent, error),
      )
      .finally(() => {
        this.#busy = false;
        this.#send();
      });
  }

  #prepare(nowMono: number): Sent {
    const calls = this.#waiting.splice(0, MOST_CALLS);
    const subjects = new Set<Permits>();
    for (const { request } of calls) for (const one of request.subjects) subjects.add(one);
    this.#addReports(subjects, nowMono);
    for (const one of subjects) {
      one.reportedMono = nowMono;
      this.#touched.delete(one);
      this.#touched.add(one);
    }
    // With nothing to report it asks about any of them, which shows whether the store still has its state, and makes
    // none of them younger.
    const probes = subjects.size === 0;
    const [first] = this.#permits.values();
    if (probes && first) subjects.add(first);
    const permits = [...subjects];
    const position = new Map(permits.map((one, index) => [one, index]));
    const request: PermitRequest = {
      workspaceId: this.workspaceId,
      process: this.#parts.process,
      turn: this.#parts.next(),
      epoch: nowMono - this.#answeredMono < FORGET_MS ? this.#epoch : null,
      processes: this.#parts.fleet.now().processes,
      subjects: permits.map((one) => (this.#lost.delete(one) ? one.reportAll(nowMono) : one.report(nowMono))),
      calls: calls.map(({ request }) => ({
        ...request.weight,
        subjects: request.subjects.map((one) => position.get(one) ?? 0),
      })),
    };
    this.#askedMono = nowMono;
    const entries = new Map(permits.map((one) => [one, newEntry(idOf(request), nowMono)]));
    return { request, entries, calls, sentMono: nowMono, probes };
  }

  /** Adds what is to be reported besides the calls, and forgets which permits have nothing to report. */
  #addReports(subjects: Set<Permits>, nowMono: number): void {
    for (const one of this.#lost) {
      if (subjects.size >= MOST_SUBJECTS) return;
      subjects.add(one);
    }
    for (const one of this.#touched) {
      if (subjects.size >= MOST_SUBJECTS) return;
      if (one.slots.used > 0 || one.hasChanges(nowMono)) subjects.add(one);
      else if (!one.hasSpare) this.#touched.delete(one);
    }
  }

  /**
   * Has the store carry out a permit request, within its patience.
   * @throws when the store fails, or has not answered by then; whether it was carried out is then unknown.
   */
  #carryOut({ request, sentMono }: Sent): Promise<PermitAnswer> {
    const { store, breaker, later } = this.#parts;
    const patienceMs = breaker.mode(sentMono) === 'alone' ? PROBE_MS : store.patienceMs;
    return new Promise((resolve, reject) => {
      // An answer that has arrived while the event loop was busy wins: it is read before an immediate runs.
      const cancel = later(patienceMs, () =>
        setImmediate(() => reject(new Error(`${store.name} has not answered within ${patienceMs} ms`))),
      );
      store.carryOut(request).then(resolve, reject).finally(cancel);
    });
  }

  #answered(sent: Sent, answer: PermitAnswer): void {
    const { clock, breaker } = this.#parts;
    const nowMono = clock.mono();
    this.#answeredMono = nowMono;
    this.#epoch = answer.epoch;
    if (breaker.answered(nowMono)) this.#parts.onBack();
    if (answer.lost) {
      if (++this.#losses > MOST_LOSSES) {
        this.#failed(sent, new Error('the store keeps losing its state'));
        return;
      }
      this.#settledAtMono = nowMono + settleMs;
      this.#lost = new Set(this.#permits.values());
      this.#urgent = true;
      this.#reportAgain(sent, nowMono);
      this.#waiting.unshift(...sent.calls);
      return;
    }
    this.#losses = 0;
    if (this.#lost.size > 0) this.#urgent = true;
    const refused: Waiting[] = [];
    for (const [index, call] of sent.calls.entries()) {
      if (answer.admitted[index]) this.#admit(call, sent);
      else refused.push(call);
    }
    const times = { sentMono: sent.sentMono, nowMono };
    [...sent.entries].forEach(([permits, entry], index) => {
      const [reported, given] = [sent.request.subjects[index], answer.subjects[index]];
      if (reported && given) permits.takeAnswer(reported, given, entry, times);
    });
    for (const call of refused) this.#refuse(call, nowMono);
  }

  #admit({ request: { weight, subjects }, decided }: Waiting, { entries }: Sent): void {
    const held: Held[] = [];
    for (const permits of subjects) {
      const entry = entries.get(permits);
      if (!entry) {
        decided({ kind: 'alone' });
        return;
      }
      held.push(permits.admitted(weight, entry));
    }
    decided({ kind: 'held', held });
  }

  #refuse(call: Waiting, nowMono: number): void {
    const { subjects, weight } = call.request;
    const waits = subjects.map((permits) => permits.waits(weight, nowMono));
    const full = subjects.filter((_, index) => waits[index]?.concurrencyFull);
    const timed = waits.some(({ rpmMs, tpmMs }) => rpmMs > 0 || tpmMs > 0);
    const slotMayFree = !timed && full.length > 0 && full.every(({ sharesSlots }) => sharesSlots);
    if (!slotMayFree || call.tries > 0 || this.retriesFull) {
      call.decided({ kind: 'refused', waits });
      return;
    }
    call.tries++;
    this.#retries++;
    this.#parts.later(RETRY_MS, () => {
      this.#retries--;
      this.#waiting.push(call);
      this.#send();
    });
  }

  #failed(sent: Sent, error: unknown): void {
    const { clock, breaker, store, onLost } = this.#parts;
    const nowMono = clock.mono();
    if (breaker.failed(nowMono)) onLost(error);
    store.reconnect();
    this.#reportAgain(sent, nowMono);
    for (const { decided } of [...sent.calls, ...this.#waiting.splice(0)]) decided({ kind: 'alone' });
  }

  /** Reports again what may not have arrived. To do so for a probe would keep young what no call uses. */
  #reportAgain({ entries, request, probes }: Sent, nowMono: number): void {
    if (probes) return;
    [...entries.keys()].forEach((permits, index) => {
      const reported = request.subjects[index];
      if (reported) permits.unanswered(reported, idOf(request), nowMono);
    });
  }
}

/** The entry that a permit request makes; the script gives it the same name. */
function idOf({ process, turn }: PermitRequest): string {
  return `${process}.${turn}`;
}
