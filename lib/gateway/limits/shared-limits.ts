import type { StoredLimits } from '#lib/core/facts/snapshot';
import { Breaker } from '#lib/gateway/limits/breaker';
import { freeSlots, type OrphanedCall } from '#lib/gateway/limits/free-slots';
import { LimitQueue } from '#lib/gateway/limits/limit-queue';
import type { LimitQueueParts } from '#lib/gateway/limits/limit-queue-parts';
import { type LimitNumbers, tighter } from '#lib/gateway/limits/pure/numbers';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import type { Take } from '#lib/gateway/limits/pure/permits/permits';
import { type Fleet, type FollowedFleet, shareOf } from '#lib/gateway/limits/pure/share';
import type { LimitVerdict, WantedLimits } from '#lib/gateway/limits/verdict';
import type { Clock } from '#lib/platform/clock';

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
  /** Runs `work` after `ms`; the usual timers without one. @returns what cancels it. */
  later?(ms: number, work: () => void): () => void;
}

/** What the shared limits say to one call, and where it stands in them. */
export interface Pass extends WantedLimits {
  readonly queue: LimitQueue;
  verdict: LimitVerdict;
}

/** A key or workspace with its limits. */
export interface Subject {
  readonly id: string;
  readonly limits: StoredLimits;
}

const TICK_MS = 250;
const SWEEP_MS = 10_000;
/** A request that was taken longer ago is taken anew: for a call that is admitted now, and one that waits on. ms. */
const STALE_MS = 500;
const PLACED_MS = 20_000;

/**
 * Limits that several processes share (contract: limits/stores): permits in memory, asked of the store before they run
 * out; each permit request is about one workspace.
 */
export class SharedLimits {
  readonly #parts: LimitQueueParts;
  readonly #given: SharedLimitParts;
  readonly #breaker = new Breaker();
  readonly #queues = new Map<string, LimitQueue>();
  readonly #placed = new Set<Pass>();
  readonly #bounds = new WeakMap<StoredLimits, { readonly of: Fleet; readonly share: StoredLimits }>();
  #timer: NodeJS.Timeout | null = null;
  #sweptMono = Number.NEGATIVE_INFINITY;

  /** Whether the store answered when it was last asked. */
  get storeAnswers(): boolean {
    return this.#breaker.mode(this.#given.clock.mono()) !== 'alone';
  }

  constructor(given: SharedLimitParts) {
    let count = 0;
    this.#given = given;
    this.#parts = {
      clock: given.clock,
      store: given.store,
      breaker: this.#breaker,
      process: given.process,
      fleet: () => given.fleet.now(),
      next: () => ++count,
      later: given.later ?? usualTimer,
      onFailure: (error) => given.onLost(error),
      onAnswer: () => given.onBack(),
    };
  }

  /** Starts telling the store what no call asks it. */
  async start(): Promise<void> {
    await this.#given.fleet.start();
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  /** @returns what the limits say to a call; a promise only where permits at hand cannot decide. */
  pass(take: Take, key: Subject, workspace: Subject): Pass | Promise<Pass> {
    const nowMono = this.#parts.clock.mono();
    const queue = this.#queueOf(workspace.id);
    const pass: Pass = {
      queue,
      take,
      verdict: { kind: 'alone' },
      key: queue.permitsOf(key.id, key.limits, nowMono),
      workspace: queue.permitsOf(workspace.id, workspace.limits, nowMono),
    };
    for (const permits of [pass.key, pass.workspace]) permits.demand.note(take.tokens ?? 0, nowMono);
    if (queue.mode(nowMono) === 'alone') return pass;
    if (pass.key.covers(take, nowMono) && pass.workspace.covers(take, nowMono)) {
      hold(pass, nowMono);
      if (pass.key.low(nowMono) || pass.workspace.low(nowMono)) queue.advance(nowMono);
      return pass;
    }
    const both = [pass.key, pass.workspace];
    if (
      both.some((one) => one.refuses(take, queue.retriesFull, nowMono)) &&
      !both.some((one) => one.vague(take, nowMono))
    ) {
      const waits = [pass.key.waits(take, nowMono), pass.workspace.waits(take, nowMono)] as const;
      pass.verdict = { kind: 'refused', waits };
      return pass;
    }
    return queue.ask(pass).then((verdict) => {
      pass.verdict = verdict;
      return pass;
    });
  }

  /** What the windows of this process alone may admit: everything, while the store decides. */
  bounds({ queue }: Pass, limits: StoredLimits): StoredLimits {
    if (queue.mode(this.#parts.clock.mono()) === 'shared') return unlimited;
    const fleet = this.#given.fleet.now();
    const known = this.#bounds.get(limits);
    if (known?.of.processes === fleet.processes && known.of.rank === fleet.rank) return known.share;
    const share = shareOf(limits, fleet);
    this.#bounds.set(limits, { of: fleet, share });
    return share;
  }

  /** A call that this process admitted by its share counts, and the store will hear of it. */
  admit(pass: Pass): void {
    const nowMono = this.#parts.clock.mono();
    if (pass.verdict.kind !== 'held') hold(pass, nowMono);
  }

  /** Limit and remainder of the tighter of key and workspace, by kind (contract: limits/headers). */
  numbers({ key, workspace }: Pass): LimitNumbers {
    const nowMono = this.#parts.clock.mono();
    const [ofKey, ofWorkspace] = [key.remaining(nowMono), workspace.remaining(nowMono)];
    return {
      requests: tighter(ofKey.requests, ofWorkspace.requests),
      tokens: tighter(ofKey.tokens, ofWorkspace.tokens),
    };
  }

  /** Its client has left, or it has ended. Idempotent. */
  leave({ queue, verdict }: Pass): void {
    if (verdict.kind !== 'held') return;
    for (const held of verdict.held) {
      const withinMs = held.permits.freeSlot(held);
      if (withinMs !== null) queue.reportWithin(withinMs);
    }
  }

  /** A call has ended: `actual` tokens replace its estimate; `undone`: it never started. */
  end(pass: Pass, actual: number, undone: boolean): void {
    this.leave(pass);
    this.#placed.delete(pass);
    if (pass.verdict.kind !== 'held') return;
    const nowMono = this.#parts.clock.mono();
    for (const held of pass.verdict.held) {
      if (undone) held.permits.giveRequestBack(held);
      const used = undone ? 0 : actual;
      if (held.permits.settleTokens(held, pass.take.tokens ?? 0, used, nowMono)) pass.queue.reportWithin(0);
    }
  }

  /** The call waits for its body with a request in hand, which counts as admitted now until then. */
  place(pass: Pass): void {
    this.admit(pass);
    this.#placed.add(pass);
  }

  /** A call that waited for its body is admitted now. */
  takeOver(pass: Pass): void {
    this.#placed.delete(pass);
    renew(pass, STALE_MS, this.#parts.clock.mono());
  }

  /** Tells the store what is due. */
  tick(): void {
    const nowMono = this.#parts.clock.mono();
    for (const pass of this.#placed) renew(pass, PLACED_MS, nowMono);
    for (const [id, queue] of this.#queues) if (!queue.tick(nowMono)) this.#queues.delete(id);
    if (nowMono - this.#sweptMono < SWEEP_MS) return;
    this.#sweptMono = nowMono;
    if (this.#breaker.mode(nowMono) !== 'alone') this.#parts.store.sweep().catch(this.#given.report);
  }

  /** Gives back the slots of calls that ended with a process that died; a store that is away does so by itself. */
  async freeSlots(ownerId: string, calls: Iterable<OrphanedCall>): Promise<void> {
    await freeSlots(this.#parts.store, ownerId, calls).catch(this.#given.report);
  }

  /** Gives back what is unused, and tells what is used. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#given.fleet.stop();
    await Promise.all([...this.#queues.values()].map((queue) => queue.leave()));
    await this.#parts.store.close();
  }

  #queueOf(workspaceId: string): LimitQueue {
    let queue = this.#queues.get(workspaceId);
    if (!queue) {
      queue = new LimitQueue(workspaceId, this.#parts);
      this.#queues.set(workspaceId, queue);
    }
    return queue;
  }
}

const unlimited: StoredLimits = { rpm: null, tpm: null, concurrency: null };

function hold(pass: Pass, nowMono: number): void {
  const { key, workspace, take } = pass;
  pass.verdict = { kind: 'held', held: [key.take(take, nowMono), workspace.take(take, nowMono)] };
}

function renew({ verdict }: Pass, staleMs: number, nowMono: number): void {
  if (verdict.kind !== 'held') return;
  for (const held of verdict.held) held.permits.renewRequest(held, staleMs, nowMono);
}

function usualTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}
