import { Worker } from 'node:worker_threads';
import { type ObjectWriter, StoreProblem } from '#lib/gateway/content/objects/object-store';
import type { StoreSettings } from '#lib/gateway/content/objects/settings';
import type { ObjectAnswer, ObjectTask, ObjectWork } from '#lib/gateway/content/objects/thread';

const program = new URL('./thread.ts', import.meta.url);
/** Limits of the thread's heap, beyond which it is ended and started again. */
const memory = { maxOldGenerationSizeMb: 256 };

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (problem: StoreProblem) => void;
}

/**
 * Writes and deletes objects in a thread of its own, so that signing and sending them takes no time of the event loop.
 * The thread begins with the first object.
 */
export class ObjectThread implements ObjectWriter {
  readonly #settings: StoreSettings;
  readonly #waiting = new Map<number, Waiting>();
  #thread: Worker | null = null;
  #last = 0;

  constructor(settings: StoreSettings) {
    this.#settings = settings;
  }

  put(name: string, bytes: Uint8Array): Promise<void> {
    return this.#do({ kind: 'put', name, bytes });
  }

  remove(name: string): Promise<void> {
    return this.#do({ kind: 'remove', name });
  }

  /** Whether it writes, reads and deletes. @throws StoreProblem also for what else the operator should know. */
  check(): Promise<void> {
    return this.#do({ kind: 'check' });
  }

  /** Ends the thread; what it has not done fails. */
  async stop(): Promise<void> {
    await this.#thread?.terminate();
  }

  #do(work: ObjectWork): Promise<void> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      const task: ObjectTask = { id, work };
      this.#started().postMessage(task);
    });
  }

  #started(): Worker {
    if (this.#thread !== null) return this.#thread;
    const thread = new Worker(program, {
      execArgv: [],
      resourceLimits: memory,
      workerData: this.#settings,
    });
    thread.unref();
    thread.on('message', ({ id, problem }: ObjectAnswer) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (problem === null) waiting?.resolve();
      else waiting?.reject(new StoreProblem(problem));
    });
    const ended = () => {
      if (this.#thread !== thread) return;
      this.#thread = null;
      const lost = [...this.#waiting.values()];
      this.#waiting.clear();
      for (const { reject } of lost) reject(new StoreProblem('the thread of the content store ended'));
    };
    // "exit" follows.
    thread.on('error', () => {});
    thread.on('exit', ended);
    this.#thread = thread;
    return thread;
  }
}
