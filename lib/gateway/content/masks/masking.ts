import { Worker } from 'node:worker_threads';
import type { MaskAnswer, MaskTask } from '#lib/gateway/content/masks/thread';
import { Rest } from '#lib/gateway/content/rest';

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

interface Queue {
  readonly tasks: Waiting[];
  bytes: number;
}

/**
 * Masks content in a thread of its own, so that patterns never delay a call. Workspaces take turns; what takes too long
 * ends the thread (contract: content/masks).
 */
export class Masking {
  readonly #withinMs: number;
  /** By workspace, in the order of their turns. */
  readonly #queues = new Map<string, Queue>();
  #thread: Worker | null = null;
  readonly #rest = new Rest();
  #running = false;
  #stopped = false;

  constructor(withinMs = MASK_MS) {
    this.#withinMs = withinMs;
  }

  /** @returns null: it was not masked, so it must not be kept. */
  mask(workspaceId: string, task: MaskTask): Promise<MaskAnswer> {
    const bytes = (task.request.text?.length ?? 0) + (task.answer.text?.length ?? 0);
    const queue = this.#queues.get(workspaceId) ?? { tasks: [], bytes: 0 };
    const full = queue.tasks.length > 0 && queue.bytes + bytes > WAITING_BYTES;
    if (this.#stopped || full) return Promise.resolve(null);
    this.#queues.set(workspaceId, queue);
    return new Promise((resolve) => {
      queue.tasks.push({ task, bytes, done: resolve });
      queue.bytes += bytes;
      if (!this.#running) void this.#run();
    });
  }

  /** Ends the thread; what waits is not masked. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { tasks } of this.#queues.values()) for (const { done } of tasks) done(null);
    this.#queues.clear();
    await this.#end();
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#queues.size > 0) {
      const waiting = this.#next();
      if (!waiting) continue;
      const fromMono = performance.now();
      waiting.done(await this.#ask(waiting.task).catch(() => null));
      await this.#rest.after(performance.now() - fromMono);
    }
    this.#running = false;
  }

  #next(): Waiting | null {
    const [turn] = this.#queues;
    if (!turn) return null;
    const [workspaceId, queue] = turn;
    const waiting = queue.tasks.shift();
    this.#queues.delete(workspaceId);
    if (!waiting) return null;
    queue.bytes -= waiting.bytes;
    if (queue.tasks.length > 0) this.#queues.set(workspaceId, queue);
    return waiting;
  }

  /** @returns null: the thread ended, or took too long and was ended. */
  async #ask(task: MaskTask): Promise<MaskAnswer> {
    const thread = this.#started();
    const tooLong = setTimeout(() => void this.#end(), this.#withinMs);
    tooLong.unref();
    return await new Promise((resolve) => {
      const finish = (answer: MaskAnswer) => {
        clearTimeout(tooLong);
        thread.off('message', finish);
        thread.off('exit', lost);
        resolve(answer);
      };
      const lost = () => finish(null);
      thread.on('message', finish);
      thread.on('exit', lost);
      thread.postMessage(task);
    });
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
