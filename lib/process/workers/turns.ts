import type { Socket } from 'node:net';

/** A worker, as far as connections are given to it. */
export interface Taker {
  /** Hands the connection over; `refused` is called when that cannot be. */
  give(id: number, socket: Socket, refused: () => void): void;
}

/** Connections that may wait while no worker serves; more are closed. */
const MOST_WAITING = 1_000;

/**
 * Gives each connection to the worker that has fewest on their way to it, in turn among equals, and keeps it until that
 * one has it: a worker that is stuck gets few, and what was on its way to one that died goes to another. (The turns of
 * `node:cluster` lose such a connection, whose client then waits for ever.)
 */
export class Turns {
  /** With the connections that are on their way to each. */
  readonly #takers = new Map<Taker, Map<number, Socket>>();
  readonly #shut = new Map<Taker, Map<number, Socket>>();
  #waiting: Socket[] = [];
  #next = 0;
  #ended = false;

  enter(taker: Taker): void {
    this.#takers.set(taker, new Map());
    for (const socket of this.#waiting.splice(0)) this.give(socket);
  }

  /** The worker takes no more; what is on its way is still its own. */
  shut(taker: Taker): void {
    const underWay = this.#takers.get(taker);
    if (underWay === undefined) return;
    this.#takers.delete(taker);
    this.#shut.set(taker, underWay);
  }

  /** The worker has ended. */
  leave(taker: Taker): void {
    const lost = this.#takers.get(taker) ?? this.#shut.get(taker);
    this.#takers.delete(taker);
    this.#shut.delete(taker);
    for (const socket of lost?.values() ?? []) this.give(socket);
  }

  /** The worker has the connection: this process's copy of it goes. */
  took(taker: Taker, id: number): void {
    const underWay = this.#takers.get(taker) ?? this.#shut.get(taker);
    underWay?.get(id)?.destroy();
    underWay?.delete(id);
  }

  /** No worker will enter any more: what would wait is closed. */
  end(): void {
    this.#ended = true;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  give(socket: Socket): void {
    const [taker, underWay] = this.#freest() ?? [];
    if (taker === undefined || underWay === undefined) {
      if (!this.#ended && this.#waiting.length < MOST_WAITING) this.#waiting.push(socket);
      else socket.destroy();
      return;
    }
    this.#next += 1;
    const id = this.#next;
    underWay.set(id, socket);
    taker.give(id, socket, () => {
      if (!underWay.delete(id)) return;
      this.#takers.delete(taker);
      this.#shut.set(taker, underWay);
      this.give(socket);
    });
  }

  #freest(): [Taker, Map<number, Socket>] | null {
    const all = [...this.#takers];
    const from = all.length === 0 ? 0 : this.#next % all.length;
    const turn = [...all.slice(from), ...all.slice(0, from)];
    const fewest = Math.min(...turn.map(([, underWay]) => underWay.size));
    return turn.find(([, underWay]) => underWay.size === fewest) ?? null;
  }
}
