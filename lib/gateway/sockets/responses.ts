import { type Scan, type ScanFault, scan, scanInSlices } from '#lib/core/families/scan';
import { FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { Arrival } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { serve } from '#lib/gateway/flow/serve';
import { takeTurn } from '#lib/gateway/flow/upload/turns';
import { type Connection, closing } from '#lib/gateway/sockets/connection';
import { FrameBody } from '#lib/gateway/sockets/frame-body';
import { FrameReply } from '#lib/gateway/sockets/frame-reply';
import type { KeptMemory } from '#lib/gateway/sockets/kept-memory';
import {
  bodyOf,
  type CreateEvent,
  eventFields,
  inputItems,
  joined,
  readEvent,
} from '#lib/gateway/sockets/pure/client-event';
import { faultEvent, invalidEvent, steerFailed } from '#lib/gateway/sockets/pure/error-event';

/** Responses of one connection that run at the same time, and that wait, and how many lanes it may name. */
const MOST_RUNNING = 16;
const MOST_WAITING = 64;
const MOST_LANES = 32;
/** How long a connection may be used, ms (contract: sockets/socket-end). */
const LIFE_MS = 60 * 60_000;

/** A response that its provider does not store, for the one that continues it. */
interface Kept {
  readonly id: string;
  /** Its input and output, JSON without brackets. */
  readonly items: string;
}

interface Waiting {
  readonly event: CreateEvent;
  readonly done: () => void;
}

/** Requests with the same `stream_id`, which run one after the other. */
interface Lane {
  readonly queue: Waiting[];
  running: boolean;
  kept: Kept | null;
}

interface SessionParts {
  readonly runtime: Runtime;
  readonly memory: KeptMemory;
  /** Those of every call (contract: sockets/handshake). */
  readonly head: Pick<Arrival, 'target' | 'headers'>;
}

/** Responses over one connection (contract: sockets/one-call-each, sockets/lanes, sockets/continuation). */
export class ResponsesSession {
  readonly #parts: SessionParts;
  readonly #connection: Connection;
  readonly #lanes = new Map<string | null, Lane>();
  readonly #untilMono: number;
  #reading: Promise<void> = Promise.resolve();
  #running = 0;
  #waiting = 0;
  #paused = false;
  /** With which code and reason it closes once nothing runs. */
  #ending: readonly [code: number, reason: string] | null = null;

  constructor(connection: Connection, parts: SessionParts) {
    this.#parts = parts;
    this.#connection = connection;
    this.#untilMono = parts.runtime.clock.mono() + LIFE_MS;
    connection.onGone(() => {
      for (const lane of this.#lanes.values()) this.#keep(lane, null);
    });
  }

  /** A message of the client. @param done returns its memory. */
  take(message: Buffer, isBinary: boolean, done: () => void): void {
    if (isBinary) {
      done();
      this.#connection.send(
        faultEvent(invalidEvent('Send each event as a text frame, not a binary one.', null)),
      );
      return;
    }
    this.#waiting += 1;
    this.#reading = this.#reading
      .then(() => this.#read(message, done))
      .catch((error) => {
        this.#parts.runtime.report(error, null);
        this.#connection.terminate();
      });
    if (this.#waiting >= MOST_WAITING && !this.#paused) {
      this.#paused = true;
      this.#connection.pause();
    }
  }

  tick(nowMono: number): void {
    this.#connection.tick(nowMono);
    if (nowMono >= this.#untilMono) {
      this.end(closing.normal, 'The connection was open for 60 minutes; open a new one to continue.');
    }
  }

  /** Closes it behind what runs. */
  end(code: number, reason: string): void {
    this.#ending ??= [code, reason];
    this.#closeIdle();
  }

  async #read(message: Buffer, done: () => void): Promise<void> {
    const scanned: Scan | ScanFault =
      message.length > FREE_BYTES
        ? await scanInSlices(message, eventFields, takeTurn)
        : scan(message, eventFields);
    const event = 'fault' in scanned ? invalidEvent(scanned.fault, null) : readEvent(scanned);
    const answer = 'fault' in event ? faultEvent(event) : this.#answerTo(event, message);
    if (answer === null && 'kind' in event && event.kind === 'create') {
      this.#laneOf(event.lane).queue.push({ event, done });
      this.#pump();
      return;
    }
    done();
    if (answer !== null) this.#connection.send(answer);
    this.#waited();
  }

  /** What the connection itself answers to an event; null: nothing. */
  #answerTo(event: Exclude<ReturnType<typeof readEvent>, { fault: string }>, message: Buffer): string | null {
    if (event.kind === 'steer') return steerFailed(message.toString('utf8'));
    if (event.kind === 'processed') return null;
    const { lane } = event;
    if (this.#ending?.[0] === closing.normal) {
      return faultEvent({
        ...invalidEvent(this.#ending[1], null, lane),
        code: 'websocket_connection_limit_reached',
      });
    }
    const named = this.#lanes.size - (this.#lanes.has(null) ? 1 : 0);
    if (lane === null || this.#lanes.has(lane) || named < MOST_LANES) return null;
    return faultEvent({
      ...invalidEvent(
        `This connection has used ${MOST_LANES} different values of "stream_id"; use one of them, or open a new connection.`,
        'stream_id',
        lane,
      ),
      code: 'websocket_stream_limit_reached',
    });
  }

  #laneOf(name: string | null): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      lane = { queue: [], running: false, kept: null };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  /** Starts what may run now. */
  #pump(): void {
    for (const lane of this.#lanes.values()) {
      if (this.#running >= MOST_RUNNING) return;
      const next = lane.running ? undefined : lane.queue.shift();
      if (next) void this.#run(lane, next);
    }
  }

  async #run(lane: Lane, { event, done }: Waiting): Promise<void> {
    const { runtime } = this.#parts;
    lane.running = true;
    this.#running += 1;
    try {
      if (this.#connection.open) await this.#serve(lane, event, done);
    } catch (error) {
      runtime.report(error, null);
      this.#connection.terminate();
    }
    done();
    lane.running = false;
    this.#running -= 1;
    this.#waited();
    this.#pump();
  }

  /** One call (contract: sockets/one-call-each). */
  async #serve(lane: Lane, event: CreateEvent, done: () => void): Promise<void> {
    const { runtime, head } = this.#parts;
    const prior = this.#find(event.previous)?.items ?? null;
    const bytes = bodyOf(event, prior);
    const keeps = event.warmUp || !event.stored;
    const asked = keeps ? joined(prior ?? '', inputItems(event.scan)) : '';
    // From here on, the call has the bytes.
    event.scan.body = new Uint8Array();
    done();
    const body = new FrameBody(runtime.bodies, bytes);
    const reply = new FrameReply(this.#connection, event);
    let stay = () => {};
    const arrival: Arrival = {
      ...head,
      method: 'POST',
      body,
      warmUp: event.warmUp,
      onGone: (listener) => {
        stay = this.#connection.onGone(listener);
      },
    };
    try {
      await serve(runtime, arrival, reply);
    } finally {
      stay();
      body.release();
    }
    const { ended } = reply;
    if (ended) this.#keep(lane, keeps ? { id: ended.id, items: joined(asked, ended.output) } : null);
  }

  /** The response of any lane that an id names, if it is kept here. */
  #find(id: string | null): Kept | null {
    if (id === null) return null;
    for (const { kept } of this.#lanes.values()) if (kept?.id === id) return kept;
    return null;
  }

  #keep(lane: Lane, kept: Kept | null): void {
    const { memory, runtime } = this.#parts;
    if (lane.kept) memory.free(lane.kept.items.length);
    lane.kept = null;
    // What no request could carry cannot be continued.
    if (kept === null || !this.#connection.open || kept.items.length > runtime.limits.maxBodyBytes) return;
    if (memory.take(kept.items.length)) lane.kept = kept;
    else
      this.end(
        closing.retry,
        'Connect again and send the whole input: this process is out of memory for it.',
      );
  }

  /** One request less waits or runs. */
  #waited(): void {
    this.#waiting -= 1;
    this.#closeIdle();
    if (!this.#paused || this.#waiting >= MOST_WAITING / 2) return;
    this.#paused = false;
    this.#connection.resume();
  }

  #closeIdle(): void {
    if (this.#ending === null || this.#waiting > 0 || !this.#connection.open) return;
    const [code, reason] = this.#ending;
    // Clients of this protocol know by this event that they must connect again.
    if (code === closing.normal) {
      this.#connection.send(
        faultEvent({ ...invalidEvent(reason, null), code: 'websocket_connection_limit_reached' }),
      );
    }
    this.#connection.close(code, reason);
  }
}
