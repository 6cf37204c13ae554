import pTimeout from 'p-timeout';
import type { StoredLimits } from '#lib/core/facts/snapshot';
import { Breaker } from '#lib/gateway/limits/breaker';
import {
  LimitQueue,
  type LimitQueueParts,
  type LimitRequest,
  type SharedAnswer,
  type SharedLimitParts,
} from '#lib/gateway/limits/limit-queue';
import {
  type CallWeight,
  type Fleet,
  type LimitNumbers,
  noLimits,
  shareOf,
  tighter,
} from '#lib/gateway/limits/pure/limits';
import type { LimitStore } from '#lib/gateway/limits/pure/permit-request';
import type { Permits } from '#lib/gateway/limits/pure/permits';
import type { Clock } from '#lib/platform/clock';

/** A key, a workspace or a tag with its limits. */
interface Subject {
  readonly id: string;
  readonly limits: StoredLimits;
}

/** A call that was running. */
interface OrphanedCall {
  readonly workspaceId: string;
  readonly keyId: string;
}

const TICK_MS = 250;
const SWEEP_MS = 10_000;
/** A request that was taken longer ago is taken again: for a call that is admitted now, and one that still waits. ms. */
const STALE_MS = 500;
const PLACED_MS = 20_000;
/** The last permit request of a process: whatever it sent before and arrives later changes nothing. */
const LAST_TURN = 2_147_483_647;
/** How long freeing the slots of a dead process may take, ms: a store that is away frees them after `slotLifeMs`. */
const FREE_MS = 2_000;

/** Its name in the store: the random part of its owner, as processes of one machine start in the same millisecond. */
export function processName(ownerId: string): string {
  return ownerId.slice(-12);
}

/** The part of a claim that is counted in shared limits: what they said to the call, and what it has of them. */
export class SharedClaim {
  readonly #limits: SharedLimits;
  readonly #queue: LimitQueue;
  readonly #request: LimitRequest;
  answer: SharedAnswer = { kind: 'alone' };

  constructor(limits: SharedLimits, queue: LimitQueue, request: LimitRequest) {
    this.#limits = limits;
    this.#queue = queue;
    this.#request = request;
  }

  /** Asks permits at hand, then the store. @returns a promise only if permits at hand cannot decide. */
  ask(): this | Promise<this> {
    const { weight, subjects } = this.#request;
    const nowMono = this.#limits.clock.mono();
    const queue = this.#queue;
    for (const permits of subjects) permits.demand.note(weight.tokens ?? 0, nowMono);
    if (queue.mode(nowMono) === 'alone') return this;
    if (subjects.every((permits) => permits.covers(weight, nowMono))) {
      this.admit();
      if (subjects.some((permits) => permits.low(nowMono))) queue.advance(nowMono);
      return this;
    }
    if (
      subjects.some((permits) => permits.refuses(weight, queue.retriesFull, nowMono)) &&
      !subjects.some((permits) => permits.vague(weight, nowMono))
    ) {
      this.answer = { kind: 'refused', waits: subjects.map((permits) => permits.waits(weight, nowMono)) };
      return this;
    }
    return queue.ask(this.#request).then((answer) => {
      this.answer = answer;
      return this;
    });
  }

  /** What the counters of this process may admit by themselves: everything, while the store decides. */
  bounds(limits: StoredLimits): StoredLimits {
    const shared = this.#queue.mode(this.#limits.clock.mono()) === 'shared';
    return shared ? noLimits : this.#limits.shareOf(limits);
  }

  /** The call is admitted: if by the share of this process, it counts too, and is reported to the store. */
  admit(): void {
    if (this.answer.kind === 'held') return;
    const { weight, subjects } = this.#request;
    const nowMono = this.#limits.clock.mono();
    this.answer = { kind: 'held', held: subjects.map((permits) => permits.take(weight, nowMono)) };
  }

  numbers(): LimitNumbers {
    const nowMono = this.#limits.clock.mono();
    return this.#request.subjects
      .map((permits) => permits.numbers(nowMono))
      .reduce((one, other) => tighter(one, other));
  }

  /** Its client has left, or it has ended. Idempotent. */
  leave(): void {
    if (this.answer.kind !== 'held') return;
    for (const held of this.answer.held) {
      this.#queue.touch(held.permits);
      const withinMs = held.permits.freeSlot(held);
      if (withinMs !== null) this.#queue.reportWithin(withinMs);
    }
  }

  /** The call has ended: `actual` tokens replace its estimate; `undone`: it never started. */
  end(actual: number, undone: boolean): void {
    this.leave();
    this.#limits.placed.delete(this);
    if (this.answer.kind !== 'held') return;
    const { weight } = this.#request;
    const nowMono = this.#limits.clock.mono();
    for (const held of this.answer.held) {
      this.#queue.touch(held.permits);
      if (held.permits.end(held, { weight, actual, undone }, nowMono)) this.#queue.reportWithin(0);
    }
  }

  /** The call waits for its body with a request in hand, which counts as admitted now until then. */
  place(): void {
    this.admit();
    this.#limits.placed.add(this);
  }

  /** The call, which waited for its body, is admitted now. */
  takeOver(): void {
    this.#limits.placed.delete(this);
    this.renew(STALE_MS);
  }

  /** Takes its request again if it was taken more than `staleMs` ago. */
  renew(staleMs: number): void {
    if (this.answer.kind !== 'held') return;
    const nowMono = this.#limits.clock.mono();
    for (const held of this.answer.held) {
      this.#queue.touch(held.permits);
      held.permits.renewRequest(held, staleMs, nowMono);
    }
  }
}

/**
 * Limits that several processes share (contract: limits/stores): permits in memory, requested from the store before
 * they run out; each permit request is about one workspace.
 */
export class SharedLimits {
  readonly #parts: LimitQueueParts;
  readonly #queues = new Map<string, LimitQueue>();
  /** Those of calls that wait for their bodies. */
  readonly placed = new Set<SharedClaim>();
  readonly #shares = new WeakMap<StoredLimits, { readonly of: Fleet; readonly share: StoredLimits }>();
  #timer: NodeJS.Timeout | null = null;
  #sweptMono = Number.NEGATIVE_INFINITY;

  constructor(parts: SharedLimitParts) {
    let count = 0;
    this.#parts = { later: usualTimer, ...parts, breaker: new Breaker(), next: () => ++count };
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  /** Whether the store answered when it was last asked. */
  get storeAnswers(): boolean {
    return this.#parts.breaker.mode(this.clock.mono()) !== 'alone';
  }

  /** Starts reporting to the store what no call asks it. */
  async start(): Promise<void> {
    await this.#parts.fleet.start();
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  /**
   * @param groupId whose subjects are asked for together: a workspace, or the provider of a credential.
   * @param subjects the key and the workspace of a call, or its tags with limits; at least one.
   * @returns what the limits say to a call; a promise only if permits at hand cannot decide.
   */
  claim(
    weight: CallWeight,
    groupId: string,
    subjects: readonly Subject[],
  ): SharedClaim | Promise<SharedClaim> {
    const nowMono = this.clock.mono();
    let queue = this.#queues.get(groupId);
    if (!queue) {
      queue = new LimitQueue(groupId, this.#parts);
      this.#queues.set(groupId, queue);
    }
    const permits: Permits[] = [];
    for (const { id, limits } of subjects) permits.push(queue.permitsOf(id, limits, nowMono));
    return new SharedClaim(this, queue, { weight, subjects: permits }).ask();
  }

  /** The same object for the same limits and fleet, so that counters see when their limits change. */
  shareOf(limits: StoredLimits): StoredLimits {
    const fleet = this.#parts.fleet.now();
    const known = this.#shares.get(limits);
    if (known?.of.processes === fleet.processes && known.of.rank === fleet.rank) return known.share;
    const share = shareOf(limits, fleet);
    this.#shares.set(limits, { of: fleet, share });
    return share;
  }

  /** Reports to the store what is due. */
  tick(): void {
    const nowMono = this.clock.mono();
    for (const claim of this.placed) claim.renew(PLACED_MS);
    for (const [id, queue] of this.#queues) if (!queue.tick(nowMono)) this.#queues.delete(id);
    if (nowMono - this.#sweptMono < SWEEP_MS) return;
    this.#sweptMono = nowMono;
    if (this.storeAnswers) this.#parts.store.sweep().catch(this.#parts.report);
  }

  /** Gives back the slots of calls that ended with a process that died; a store that is away does so by itself. */
  async freeSlots(ownerId: string, calls: Iterable<OrphanedCall>): Promise<void> {
    await freeSlots(this.#parts.store, ownerId, calls).catch(this.#parts.report);
  }

  /** Gives back what is unused, and reports what is used. */
  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    this.#parts.fleet.stop();
    await Promise.all([...this.#queues.values()].map((queue) => queue.leave()));
    await this.#parts.store.close();
  }
}

function usualTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  timer.unref();
  return () => clearTimeout(timer);
}

/**
 * Gives back the slots of the calls that were running when a process died (contract: limits/concurrency).
 * @param ownerId of the dead process.
 * @throws Error of the store, or if it has not answered within 2 s.
 */
export async function freeSlots(
  store: LimitStore,
  ownerId: string,
  calls: Iterable<OrphanedCall>,
): Promise<void> {
  const subjects = new Map<string, Set<string>>();
  for (const { workspaceId, keyId } of calls) {
    const known = subjects.get(workspaceId) ?? new Set([workspaceId]);
    subjects.set(workspaceId, known.add(keyId));
  }
  const none = { slots: 0, lowered: [], used: [], want: { requests: 0, tokens: 0, slots: 0 } };
  const requests = [...subjects].map(([workspaceId, ids]) =>
    store.carryOut({
      workspaceId,
      process: processName(ownerId),
      turn: LAST_TURN,
      epoch: null,
      processes: 1,
      calls: [],
      subjects: [...ids].map((id) => ({ id, limits: noLimits, ...none })),
    }),
  );
  await pTimeout(Promise.all(requests), { milliseconds: FREE_MS });
}
