import { Worker } from 'node:worker_threads';
import type { MaskAnswer, MaskTask } from '#lib/gateway/content/masks/thread';

/** How long masking the content of one call may take, ms; most take less than a hundredth of it. */
const MASK_MS = 5_000;
/** Content of one workspace that waits to be masked, bytes: a slow pattern must not cost others their content. */
const WAITING_BYTES = 16 * 1_048_576;

const program = new URL('./thread.ts', import.meta.url);
/** Limits of the thread's heap, beyond which it is ended and started again. */
const memory = { maxOldGenerationSizeMb: 256 };

interface Waiting {
  readonly task: MaskTask;
  readonly bytes: number;
  done(answer: MaskAnswer): void;
}

/**
 * Masks content in a thread of its own, so that patterns never delay a call. Workspaces take turns; what takes too long
 * ends the thread (contract: content/masks).
 */
export class Masking {
  readonly #withinMs: number;
  /** By workspace, in the order of their turns. */
  readonly #queues = new Map<string, Waiting[]>();
  #thread: Worker | null = null;
  #running: Waiting | null = null;
  #stopped = false;

  constructor(withinMs = MASK_MS) {
    this.#withinMs = withinMs;
  }

  /** @returns null: it was not masked, so it must not be kept. */
  mask(workspaceId: string, task: MaskTask): Promise<MaskAnswer> {
    const bytes = (task.request.text?.length ?? 0) + (task.answer.text?.length ?? 0);
    const queue = this.#queues.get(workspaceId) ?? [];
    const waiting = queue.reduce((sum, one) => sum + one.bytes, 0);
    if (this.#stopped || (queue.length > 0 && waiting + bytes > WAITING_BYTES)) return Promise.resolve(null);
    this.#queues.set(workspaceId, queue);
    return new Promise((resolve) => {
      queue.push({ task, bytes, done: resolve });
      this.#next();
    });
  }

  /** Ends the thread; what waits is not masked. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const queue of this.#queues.values()) for (const { done } of queue) done(null);
    this.#queues.clear();
    await this.#end();
  }

  #next(): void {
    if (this.#running !== null) return;
    const [turn] = this.#queues;
    if (!turn) return;
    const [workspaceId, queue] = turn;
    const waiting = queue.shift();
    this.#queues.delete(workspaceId);
    if (queue.length > 0) this.#queues.set(workspaceId, queue);
    if (!waiting) return;
    this.#running = waiting;
    const thread = this.#started();
    const tooLong = setTimeout(() => void this.#end(), this.#withinMs);
    tooLong.unref();
    const finish = (answer: MaskAnswer) => {
      clearTimeout(tooLong);
      thread.off('message', finish);
      thread.off('exit', lost);
      this.#running = null;
      waiting.done(answer);
      this.#next();
    };
    const lost = () => finish(null);
    thread.on('message', finish);
    thread.on('exit', lost);
    thread.postMessage(waiting.task);
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(program, { execArgv: [], resourceLimits: memory });
    thread.unref();
    const ended = () => {
      if (this.#thread === thread) this.#thread = null;
    };
    // What ends it is answered by "exit": its content is lost.
    thread.on('error', ended);
    thread.on('exit', ended);
    this.#thread = thread;
    return thread;
  }

  async #end(): Promise<void> {
    const thread = this.#thread;
    this.#thread = null;
    await thread?.terminate();
  }
}
