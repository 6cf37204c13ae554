import type { StoredLimits } from '#lib/core/facts/snapshot';
import { answerWithin } from '#lib/gateway/limits/answer-within';
import { type Mode, settleMs } from '#lib/gateway/limits/breaker';
import type { LimitQueueParts } from '#lib/gateway/limits/limit-queue-parts';
import { type PermitAnswer, type PermitRequest, slotLifeMs } from '#lib/gateway/limits/pure/permit-request';
import { type Grant, newGrant } from '#lib/gateway/limits/pure/permits/grant';
import { Permits } from '#lib/gateway/limits/pure/permits/permits';
import type { LimitVerdict, WantedLimits } from '#lib/gateway/limits/verdict';

interface Waiting {
  readonly wanted: WantedLimits;
  readonly decided: (verdict: LimitVerdict) => void;
  /** How often it was tried again. */
  tries: number;
}

interface Sent {
  readonly ask: PermitRequest;
  readonly permits: readonly Permits[];
  readonly calls: readonly Waiting[];
  readonly sentMono: number;
  /** It tells nothing, and asks nothing but whether the store still has its state: when it fails, nothing is lost. */
  readonly probes: boolean;
}

/** Most calls and most subjects of one permit request. */
const MOST_CALLS = 200;
const MOST_SUBJECTS = 100;
/** Longest delay before changes are reported to the store, ms. */
const NEWS_MS = 1_000;
/** Answers in a row that tell of a lost state, after which the store counts as away. */
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
/** How long the first permit request after a failure may take, ms; no call waits for it. */
const PROBE_MS = 1_000;

/** All that this process asks the store about one workspace and its keys: one request at a time. Monotonic ms. */
export class LimitQueue {
  readonly workspaceId: string;
  readonly #parts: LimitQueueParts;
  readonly #permits = new Map<string, Permits>();
  readonly #toldMono = new Map<Permits, number>();
  #waiting: Waiting[] = [];
  #retries = 0;
  #busy = false;
  #running: Promise<void> = Promise.resolve();
  #urgent = false;
  #telling = false;
  #epoch: string | null = null;
  #askedMono = Number.NEGATIVE_INFINITY;
  #heardMono = Number.NEGATIVE_INFINITY;
  #settledAtMono = Number.NEGATIVE_INFINITY;
  /** The store lost what it knew: everything is told again. */
  #tellAll = false;
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
    permits.wantedMono = nowMono;
    return permits;
  }

  mode(nowMono: number): Mode {
    const mode = this.#parts.breaker.mode(nowMono);
    return mode === 'shared' && nowMono < this.#settledAtMono ? 'both' : mode;
  }

  /** Asks for a call. Never waits longer than the store's patience. */
  ask(wanted: WantedLimits): Promise<LimitVerdict> {
    return new Promise((decided) => {
      this.#waiting.push({ wanted, decided, tries: 0 });
      this.#send();
    });
  }

  /** Whether so many calls wait to be tried again that no more may. */
  get retriesFull(): boolean {
    return this.#retries >= MOST_RETRIES;
  }

  /** Tells within `ms`. */
  reportWithin(ms: number): void {
    if (this.#telling) return;
    this.#telling = true;
    this.#parts.later(ms, () => {
      this.#telling = false;
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

  /** Tells what has waited long enough. @returns whether there is anything left that counts. */
  tick(nowMono: number): boolean {
    let due = false;
    for (const [id, permits] of this.#permits) {
      const told = this.#toldMono.get(permits) ?? Number.NEGATIVE_INFINITY;
      if (permits.slots.used > 0 && nowMono - told >= CONFIRM_MS) due = true;
      else if (permits.hasNews(nowMono)) due ||= nowMono - this.#askedMono >= NEWS_MS;
      else if (permits.idle(nowMono) && nowMono - Math.max(told, permits.wantedMono) >= FORGET_MS) {
        this.#permits.delete(id);
        this.#toldMono.delete(permits);
      }
    }
    // A store that lost its state is told of it also where nothing is going on.
    if (this.#permits.size > 0 && nowMono - this.#heardMono >= CONFIRM_MS) due = true;
    if (due) {
      this.#urgent = true;
      this.#send();
    }
    return this.#permits.size > 0 || this.#waiting.length > 0 || this.#busy;
  }

  /** Tells all that is left to tell, at the end of this process. */
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
        (answer) => this.#heard(sent, answer),
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
    for (const { wanted } of calls) subjects.add(wanted.key).add(wanted.workspace);
    const told = (one: Permits) => this.#toldMono.get(one) ?? 0;
    const others = [...this.#permits.values()]
      .filter((one) => this.#tellAll || one.slots.used > 0 || one.hasNews(nowMono))
      .sort((one, other) => told(one) - told(other));
    for (const one of others) if (subjects.size < MOST_SUBJECTS) subjects.add(one);
    for (const one of subjects) this.#toldMono.set(one, nowMono);
    // With nothing to report it asks about any of them, which tells whether the store still has its state, and makes
    // none of them younger.
    const probes = subjects.size === 0;
    for (const one of this.#permits.values()) if (subjects.size === 0) subjects.add(one);
    const permits = [...subjects];
    const position = new Map(permits.map((one, index) => [one, index]));
    const ask: PermitRequest = {
      workspaceId: this.workspaceId,
      process: this.#parts.process,
      turn: this.#parts.next(),
      epoch: nowMono - this.#heardMono < FORGET_MS ? this.#epoch : null,
      processes: this.#parts.fleet().processes,
      subjects: permits.map((one) => (this.#tellAll ? one.tellAll(nowMono) : one.tell(nowMono))),
      calls: calls.map(({ wanted: { take, key, workspace } }) => ({
        ...take,
        subjects: [position.get(key) ?? 0, position.get(workspace) ?? 0],
      })),
    };
    this.#tellAll = false;
    this.#askedMono = nowMono;
    return { ask, permits, calls, sentMono: nowMono, probes };
  }

  #carryOut({ ask, sentMono }: Sent): Promise<PermitAnswer> {
    const { store, breaker, later } = this.#parts;
    return answerWithin(breaker.mode(sentMono) === 'alone' ? PROBE_MS : store.patienceMs, store, ask, later);
  }

  #heard(sent: Sent, answer: PermitAnswer): void {
    const { clock, breaker } = this.#parts;
    const nowMono = clock.mono();
    this.#heardMono = nowMono;
    this.#epoch = answer.epoch;
    if (breaker.answered(nowMono)) this.#parts.onAnswer();
    if (answer.lost) {
      if (++this.#losses > MOST_LOSSES) {
        this.#failed(sent, new Error('the store keeps losing its state'));
        return;
      }
      this.#settledAtMono = nowMono + settleMs;
      this.#tellAll = true;
      this.#urgent = true;
      this.#retell(sent, nowMono);
      this.#waiting.unshift(...sent.calls);
      return;
    }
    this.#losses = 0;
    const grants = sent.permits.map(() => newGrant(idOf(sent.ask), nowMono));
    const refused: Waiting[] = [];
    for (const [index, call] of sent.calls.entries()) {
      if (answer.admitted[index]) this.#admit(call, sent, grants, index);
      else refused.push(call);
    }
    const times = { sentMono: sent.sentMono, nowMono };
    for (const [index, permits] of sent.permits.entries()) {
      const [told, given, grant] = [sent.ask.subjects[index], answer.subjects[index], grants[index]];
      if (told && given && grant) permits.hear(told, given, grant, times);
    }
    for (const call of refused) this.#refuse(call, nowMono);
  }

  #admit({ wanted, decided }: Waiting, { ask }: Sent, grants: readonly Grant[], index: number): void {
    const [keyAt, workspaceAt] = ask.calls[index]?.subjects ?? [];
    const key = grants[keyAt ?? -1];
    const workspace = grants[workspaceAt ?? -1];
    if (!key || !workspace) decided({ kind: 'alone' });
    else {
      const { take } = wanted;
      decided({
        kind: 'held',
        held: [wanted.key.admitted(take, key), wanted.workspace.admitted(take, workspace)],
      });
    }
  }

  #refuse(call: Waiting, nowMono: number): void {
    const { key, workspace, take } = call.wanted;
    const waits = [key.waits(take, nowMono), workspace.waits(take, nowMono)] as const;
    const full = [key, workspace].filter((_, index) => waits[index]?.concurrencyFull);
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
    const { clock, breaker, store, onFailure } = this.#parts;
    const nowMono = clock.mono();
    if (breaker.failed(nowMono)) onFailure(error);
    store.reconnect();
    this.#retell(sent, nowMono);
    for (const { decided } of [...sent.calls, ...this.#waiting.splice(0)]) decided({ kind: 'alone' });
  }

  /** Tells again what may not have arrived. To do so for a probe would keep young what no call uses. */
  #retell({ permits, ask, probes }: Sent, nowMono: number): void {
    if (probes) return;
    for (const [index, told] of ask.subjects.entries()) permits[index]?.unheard(told, idOf(ask), nowMono);
  }
}

/** The entry that a permit request makes; the script names it so too. */
function idOf({ process, turn }: PermitRequest): string {
  return `${process}.${turn}`;
}
