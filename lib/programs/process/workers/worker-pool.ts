import { type ChildProcess, fork } from 'node:child_process';
import type { Logger } from 'pino';
import type {
  ConnectionDispatcher,
  ConnectionTarget,
} from '#lib/programs/process/workers/connection-dispatcher';
import { isToPrimary, type ToPrimary, type ToWorker } from '#lib/programs/process/workers/messages';
import { environmentOf, type WorkerSettings } from '#lib/programs/process/workers/worker-settings';

/** The pause before a worker that died is started again, ms; it doubles up to the longest. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** A worker that served for this long gets the first pause again, ms. */
const STEADY_MS = 30_000;

export interface WorkerPoolParts {
  readonly count: number;
  readonly databaseUrl: string;
  readonly secrets: readonly (readonly [name: string, value: string])[];
  readonly authSecrets: readonly string[];
  newOwner(): string;
  /** Chooses the worker of each connection. */
  readonly dispatcher: ConnectionDispatcher;
  /** A worker serves; after the first one, connections may be accepted. */
  onReady(): void;
  /** All workers serve for the first time. */
  onServing(): void;
  /** A worker has ended and is no longer among `owners`. */
  onEnd(): void;
  /** A worker ended before it served; its log says why. */
  onFailedStart(reason: string): void;
  readonly log: Logger;
}

interface WorkerSlot {
  readonly number: number;
  worker: ChildProcess | null;
  ownerId: string;
  startedMs: number;
  pauseMs: number;
  served: boolean;
}

/** The workers of a machine: a slot gets a new worker when its worker has died. */
export class WorkerPool {
  readonly #parts: WorkerPoolParts;
  readonly #slots: WorkerSlot[];
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopping = false;
  #allServed = false;
  #failedStop = false;
  #allGone: (() => void) | null = null;

  constructor(parts: WorkerPoolParts) {
    this.#parts = parts;
    this.#slots = Array.from({ length: parts.count }, (_, at) => ({
      number: at + 1,
      worker: null,
      ownerId: '',
      startedMs: 0,
      pauseMs: FIRST_PAUSE_MS,
      served: false,
    }));
  }

  start(): void {
    for (const slot of this.#slots) this.#fill(slot);
  }

  /** The owners of the living workers. */
  owners(): ReadonlySet<string> {
    return new Set(this.#slots.flatMap(({ worker, ownerId }) => (worker === null ? [] : [ownerId])));
  }

  /** Whether each worker that was told to stop has closed its books. */
  endedWell(): boolean {
    return !this.#failedStop;
  }

  /** Tells all workers to stop in order, and ends those that have not stopped after `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const gone = new Promise<void>((resolve) => {
      this.#allGone = resolve;
    });
    for (const { worker } of this.#slots) if (worker) tell(worker, { gateway: 'stop' });
    const late = setTimeout(() => {
      for (const { worker } of this.#slots) worker?.kill('SIGKILL');
    }, withinMs);
    this.#tellIfGone();
    await gone;
    clearTimeout(late);
  }

  #fill(slot: WorkerSlot): void {
    const { databaseUrl, secrets, authSecrets, newOwner, log } = this.#parts;
    slot.ownerId = newOwner();
    slot.startedMs = performance.now();
    const settings: WorkerSettings = {
      number: slot.number,
      ownerId: slot.ownerId,
      databaseUrl,
      first: slot.number === 1 && !slot.served,
      secrets: secrets.map(([name, value]) => [name, value]),
      authSecrets: [...authSecrets],
    };
    const [, program = '', ...args] = process.argv;
    const worker = fork(program, args, { env: environmentOf(settings) });
    slot.worker = worker;
    const target: ConnectionTarget = {
      give: (id, socket, refused) =>
        worker.send({ gateway: 'connection', id } satisfies ToWorker, socket, { keepOpen: true }, (error) => {
          if (error) refused();
        }),
    };
    worker.on('error', (error) => log.error({ worker: slot.number, reason: error.message }, 'a worker'));
    worker.on('message', (message) => {
      if (isToPrimary(message)) this.#hear(slot, target, message);
    });
    worker.once('exit', (code, signal) => {
      this.#parts.dispatcher.remove(target);
      this.#ended(slot, code, signal);
    });
  }

  #hear(slot: WorkerSlot, target: ConnectionTarget, word: ToPrimary): void {
    const { dispatcher, onReady, onServing } = this.#parts;
    if (word.gateway === 'accepted') dispatcher.accepted(target, word.id);
    else if (word.gateway === 'closing') dispatcher.closing(target);
    else {
      dispatcher.add(target);
      onReady();
      slot.served = true;
      if (this.#allServed || !this.#slots.every(({ served }) => served)) return;
      this.#allServed = true;
      onServing();
    }
  }

  #ended(slot: WorkerSlot, code: number | null, signal: string | null): void {
    slot.worker = null;
    const how = { worker: slot.number, code, signal };
    if (this.#stopping) {
      if (code !== 0) this.#failedStop = true;
      this.#tellIfGone();
      return;
    }
    this.#parts.onEnd();
    if (!this.#allServed && !slot.served) {
      this.#failedStop = true;
      this.#parts.onFailedStart(`worker ${slot.number} failed to start (${signal ?? `exit ${code}`})`);
      return;
    }
    if (performance.now() - slot.startedMs > STEADY_MS) slot.pauseMs = FIRST_PAUSE_MS;
    const { pauseMs } = slot;
    slot.pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    this.#parts.log.warn({ ...how, pauseMs }, 'a worker ended unexpectedly: starting a new one');
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#fill(slot);
    }, pauseMs);
    this.#timers.add(timer);
  }

  #tellIfGone(): void {
    if (this.#slots.every(({ worker }) => worker === null)) this.#allGone?.();
  }
}

function tell(worker: ChildProcess, word: ToWorker): void {
  // A worker that has just ended cannot be reached.
  worker.send(word, () => undefined);
}
