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

/** The part of a claim that is counted in shared limits: what they said to the call, and what it has of them. */
export interface SharedClaim extends LimitRequest {
  readonly queue: LimitQueue;
  answer: SharedAnswer;
}

/** A key or workspace with its limits. */
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

/**
 * Limits that several processes share (contract: limits/stores): permits in memory, requested from the store before
 * they run out; each permit request is about one workspace.
 */
export class SharedLimits {
  readonly #parts: LimitQueueParts;
  readonly #breaker = new Breaker();
  readonly #queues = new Map<string, LimitQueue>();
  readonly #placed = new Set<SharedClaim>();
  readonly #bounds = new WeakMap<StoredLimits, { readonly of: Fleet; readonly share: StoredLimits }>();
  #timer: NodeJS.Timeout | null = null;
  #sweptMono = Number.NEGATIVE_INFINITY;

  constructor(parts: SharedLimitParts) {
    let count = 0;
    this.#parts = { later: usualTimer, ...parts, breaker: this.#breaker, next: () => ++count };
  }

  /** Whether the store answered when it was last asked. */
  get storeAnswers(): boolean {
    return this.#breaker.mode(this.#parts.clock.mono()) !== 'alone';
  }

  /** Starts reporting to the store what no call asks it. */
  async start(): Promise<void> {
    await this.#parts.fleet.start();
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  /** @returns what the limits say to a call; a promise only if permits at hand cannot decide. */
  claim(weight: CallWeight, key: Subject, workspace: Subject): SharedClaim | Promise<SharedClaim> {
    const nowMono = this.#parts.clock.mono();
    const queue = this.#queueOf(workspace.id);
    const claim: SharedClaim = {
      queue,
      weight,
      answer: { kind: 'alone' },
      key: queue.permitsOf(key.id, key.limits, nowMono),
      workspace: queue.permitsOf(workspace.id, workspace.limits, nowMono),
    };
    const both = [claim.key, claim.workspace];
    for (const permits of both) permits.demand.note(weight.tokens ?? 0, nowMono);
    if (queue.mode(nowMono) === 'alone') return claim;
    if (both.every((permits) => permits.covers(weight, nowMono))) {
      hold(claim, nowMono);
      if (both.some((permits) => permits.low(nowMono))) queue.advance(nowMono);
      return claim;
    }
    if (
      both.some((permits) => permits.refuses(weight, queue.retriesFull, nowMono)) &&
      !both.some((permits) => permits.vague(weight, nowMono))
    ) {
      const waits = [claim.key.waits(weight, nowMono), claim.workspace.waits(weight, nowMono)] as const;
      claim.answer = { kind: 'refused', waits };
      return claim;
    }
    return queue.ask(claim).then((answer) => {
      claim.answer = answer;
      return claim;
    });
  }

  /** What the counters of this process may admit by themselves: everything, while the store decides. */
  bounds({ queue }: SharedClaim, limits: StoredLimits): StoredLimits {
    if (queue.mode(this.#parts.clock.mono()) === 'shared') return noLimits;
    const fleet = this.#parts.fleet.now();
    const known = this.#bounds.get(limits);
    if (known?.of.processes === fleet.processes && known.of.rank === fleet.rank) return known.share;
    const share = shareOf(limits, fleet);
    this.#bounds.set(limits, { of: fleet, share });
    return share;
  }

  /** A call that this process admitted by its share counts, and the store will hear of it. */
  admit(claim: SharedClaim): void {
    if (claim.answer.kind !== 'held') hold(claim, this.#parts.clock.mono());
  }

  numbers({ key, workspace }: SharedClaim): LimitNumbers {
    const nowMono = this.#parts.clock.mono();
    return tighter(key.numbers(nowMono), workspace.numbers(nowMono));
  }

  /** Its client has left, or it has ended. Idempotent. */
  leave({ queue, answer }: SharedClaim): void {
    if (answer.kind !== 'held') return;
    for (const held of answer.held) {
      const withinMs = held.permits.freeSlot(held);
      if (withinMs !== null) queue.reportWithin(withinMs);
    }
  }

  /** A call has ended: `actual` tokens replace its estimate; `undone`: it never started. */
  end(claim: SharedClaim, actual: number, undone: boolean): void {
    this.leave(claim);
    this.#placed.delete(claim);
    const { answer, weight, queue } = claim;
    if (answer.kind !== 'held') return;
    const nowMono = this.#parts.clock.mono();
    for (const held of answer.held) {
      if (held.permits.end(held, { weight, actual, undone }, nowMono)) queue.reportWithin(0);
    }
  }

  /** The call waits for its body with a request in hand, which counts as admitted now until then. */
  place(claim: SharedClaim): void {
    this.admit(claim);
    this.#placed.add(claim);
  }

  /** A call that waited for its body is admitted now. */
  takeOver(claim: SharedClaim): void {
    this.#placed.delete(claim);
    renew(claim, STALE_MS, this.#parts.clock.mono());
  }

  /** Reports to the store what is due. */
  tick(): void {
    const nowMono = this.#parts.clock.mono();
    for (const claim of this.#placed) renew(claim, PLACED_MS, nowMono);
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

  #queueOf(workspaceId: string): LimitQueue {
    let queue = this.#queues.get(workspaceId);
    if (!queue) {
      queue = new LimitQueue(workspaceId, this.#parts);
      this.#queues.set(workspaceId, queue);
    }
    return queue;
  }
}

function hold(claim: SharedClaim, nowMono: number): void {
  const { key, workspace, weight } = claim;
  claim.answer = { kind: 'held', held: [key.take(weight, nowMono), workspace.take(weight, nowMono)] };
}

function renew({ answer }: SharedClaim, staleMs: number, nowMono: number): void {
  if (answer.kind !== 'held') return;
  for (const held of answer.held) held.permits.renewRequest(held, staleMs, nowMono);
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
