import { frameOf } from '#lib/platform/data/embedded/frames';

/** The one session that the embedded database has: what PGlite offers of itself. */
export interface Engine {
  /** Runs whole protocol messages; `onData` gets the answer's bytes, which it must copy. */
  run(message: Uint8Array, onData: (data: Uint8Array) => void): Promise<void>;
  inTransaction(): boolean;
}

/** A connected client, as the queue sees it. */
export interface Client {
  send(data: Uint8Array): void;
  /** Breaks the connection; `leave` follows. */
  drop(): void;
}

interface Turn {
  readonly client: Client;
  /** null: the client has gone, what it left open is rolled back. */
  readonly message: Buffer | null;
  /** Whether the message ends with Sync or a simple query: until then its client keeps the session. */
  readonly ends: boolean;
}

const ignore = () => undefined;

/**
 * Shares one database session between clients. A turn is everything up to Sync, so that no client's
 * Bind can meet another's Parse; a client inside a transaction keeps the session until its end.
 */
export class Turns {
  readonly #engine: Engine;
  readonly #idleLimitMs: number;
  readonly #broken: (error: unknown) => void;
  #queue: Turn[] = [];
  #owner: Client | null = null;
  #running = false;
  #idle: NodeJS.Timeout | undefined;

  /**
   * @param idleLimitMs how long a client may sit inside a transaction without a message.
   * @param broken called if the engine itself failed; nothing runs after that.
   */
  constructor(engine: Engine, idleLimitMs: number, broken: (error: unknown) => void) {
    this.#engine = engine;
    this.#idleLimitMs = idleLimitMs;
    this.#broken = broken;
  }

  enter(client: Client, message: Buffer, ends: boolean): void {
    this.#queue.push({ client, message, ends });
    void this.#pump();
  }

  /** The client has gone: what it had not started is dropped, what it had open is rolled back. */
  leave(client: Client): void {
    this.#queue = this.#queue.filter((turn) => turn.client !== client);
    this.#queue.push({ client, message: null, ends: true });
    void this.#pump();
  }

  async #pump(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    clearTimeout(this.#idle);
    try {
      for (let turn = this.#take(); turn; turn = this.#take()) await this.#run(turn);
      this.#running = false;
    } catch (error) {
      this.#broken(error);
      return;
    }
    const owner = this.#owner;
    if (owner) this.#idle = setTimeout(() => owner.drop(), this.#idleLimitMs);
  }

  #take(): Turn | undefined {
    if (!this.#owner) return this.#queue.shift();
    const index = this.#queue.findIndex((turn) => turn.client === this.#owner);
    return index < 0 ? undefined : this.#queue.splice(index, 1)[0];
  }

  async #run(turn: Turn): Promise<void> {
    if (turn.message) {
      await this.#engine.run(turn.message, (data) => turn.client.send(data));
    } else if (this.#owner === turn.client) {
      await this.#engine.run(frameOf('S'), ignore);
      if (this.#engine.inTransaction()) await this.#engine.run(frameOf('Q', 'ROLLBACK'), ignore);
    }
    this.#owner = !turn.ends || this.#engine.inTransaction() ? turn.client : null;
  }
}
