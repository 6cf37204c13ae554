import { type ChildProcess, fork } from 'node:child_process';
import type { Logger } from 'pino';
import { environmentOf, type Orders } from '#lib/process/workers/orders';
import type { Taker, Turns } from '#lib/process/workers/turns';
import { isToPrimary, type ToPrimary, type ToWorker } from '#lib/process/workers/words';

/** The pause before a worker that died is started again, ms; it doubles up to the second. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** One that served for so long gets the first pause again. */
const STEADY_MS = 30_000;

export interface CrewParts {
  readonly count: number;
  readonly databaseUrl: string;
  readonly secrets: readonly (readonly [name: string, value: string])[];
  newOwner(): string;
  /** Who gets the next connection. */
  readonly turns: Turns;
  /** One serves; from the first one on connections may come. */
  onReady(): void;
  /** All of them serve for the first time. */
  onServing(): void;
  /** One has ended, and is no longer among `owners`. */
  onEnd(): void;
  /** One ended before it ever served; it has said why. */
  onFailedStart(reason: string): void;
  readonly log: Logger;
}

interface Seat {
  readonly number: number;
  worker: ChildProcess | null;
  ownerId: string;
  startedMs: number;
  pauseMs: number;
  served: boolean;
}

/** The workers of a machine: each seat is taken anew when its worker has died. */
export class Crew {
  readonly #parts: CrewParts;
  readonly #seats: Seat[];
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopping = false;
  #welcomed = false;
  #bad = false;
  #allGone: (() => void) | null = null;

  constructor(parts: CrewParts) {
    this.#parts = parts;
    this.#seats = Array.from({ length: parts.count }, (_, at) => ({
      ...{ number: at + 1, worker: null, ownerId: '', startedMs: 0 },
      ...{ pauseMs: FIRST_PAUSE_MS, served: false },
    }));
  }

  start(): void {
    for (const seat of this.#seats) this.#fill(seat);
  }

  /** The owners of those that live. */
  owners(): ReadonlySet<string> {
    return new Set(this.#seats.flatMap(({ worker, ownerId }) => (worker === null ? [] : [ownerId])));
  }

  /** Whether each worker that was told to stop has closed its books. */
  endedWell(): boolean {
    return !this.#bad;
  }

  /** Tells all to stop in order, and ends those that have not after `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const gone = new Promise<void>((resolve) => {
      this.#allGone = resolve;
    });
    for (const { worker } of this.#seats) if (worker) tell(worker, { gateway: 'stop' });
    const late = setTimeout(() => {
      for (const { worker } of this.#seats) worker?.kill('SIGKILL');
    }, withinMs);
    this.#tellIfGone();
    await gone;
    clearTimeout(late);
  }

  #fill(seat: Seat): void {
    const { databaseUrl, secrets, newOwner, log } = this.#parts;
    seat.ownerId = newOwner();
    seat.startedMs = performance.now();
    const orders: Orders = {
      ...{ number: seat.number, ownerId: seat.ownerId, databaseUrl },
      first: seat.number === 1 && !seat.served,
      secrets: secrets.map(([name, value]) => [name, value]),
    };
    const [, program = '', ...args] = process.argv;
    const worker = fork(program, args, { env: environmentOf(orders) });
    seat.worker = worker;
    const taker: Taker = {
      give: (id, socket, refused) =>
        worker.send({ gateway: 'connection', id } satisfies ToWorker, socket, { keepOpen: true }, (error) => {
          if (error) refused();
        }),
    };
    worker.on('error', (error) => log.error({ worker: seat.number, reason: error.message }, 'a worker'));
    worker.on('message', (message) => {
      if (isToPrimary(message)) this.#hear(seat, taker, message);
    });
    worker.once('exit', (code, signal) => {
      this.#parts.turns.leave(taker);
      this.#ended(seat, code, signal);
    });
  }

  #hear(seat: Seat, taker: Taker, word: ToPrimary): void {
    const { turns, onReady, onServing } = this.#parts;
    if (word.gateway === 'took') turns.took(taker, word.id);
    else if (word.gateway === 'shut') turns.shut(taker);
    else {
      turns.enter(taker);
      onReady();
      seat.served = true;
      if (this.#welcomed || !this.#seats.every(({ served }) => served)) return;
      this.#welcomed = true;
      onServing();
    }
  }

  #ended(seat: Seat, code: number | null, signal: string | null): void {
    seat.worker = null;
    const how = { worker: seat.number, code, signal };
    if (this.#stopping) {
      if (code !== 0) this.#bad = true;
      this.#tellIfGone();
      return;
    }
    this.#parts.onEnd();
    if (!this.#welcomed && !seat.served) {
      this.#bad = true;
      this.#parts.onFailedStart(`worker ${seat.number} ended at its start (${signal ?? `exit ${code}`})`);
      return;
    }
    if (performance.now() - seat.startedMs > STEADY_MS) seat.pauseMs = FIRST_PAUSE_MS;
    const { pauseMs } = seat;
    seat.pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    this.#parts.log.warn({ ...how, pauseMs }, 'a worker ended: starting another in its place');
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#fill(seat);
    }, pauseMs);
    this.#timers.add(timer);
  }

  #tellIfGone(): void {
    if (this.#seats.every(({ worker }) => worker === null)) this.#allGone?.();
  }
}

function tell(worker: ChildProcess, word: ToWorker): void {
  // One that has just ended hears nothing.
  worker.send(word, () => undefined);
}
