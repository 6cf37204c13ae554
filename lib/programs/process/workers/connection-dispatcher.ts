import type { Socket } from 'node:net';

/** A worker, as a receiver of connections. */
export interface ConnectionTarget {
  /** Hands the connection over; `refused` is called if that fails. */
  give(id: number, socket: Socket, refused: () => void): void;
}

/** How many connections may wait while no worker serves; more are closed. */
const MOST_WAITING = 1_000;

/**
 * Gives each connection to the worker with the fewest connections on their way to it, in turn among equals, and keeps
 * it until the worker has received it: a stuck worker gets few, and connections on their way to a worker that died go
 * to another. (`node:cluster` loses such a connection, and its client waits forever.)
 */
export class ConnectionDispatcher {
  readonly #targets = new Map<
    ConnectionTarget,
    { readonly underWay: Map<number, Socket>; closing: boolean }
  >();
  #waiting: Socket[] = [];
  #next = 0;
  #ended = false;

  add(target: ConnectionTarget): void {
    this.#targets.set(target, { underWay: new Map(), closing: false });
    for (const socket of this.#waiting.splice(0)) this.give(socket);
  }

  /** The worker takes no more connections than those on their way to it. */
  closing(target: ConnectionTarget): void {
    const known = this.#targets.get(target);
    if (known) known.closing = true;
  }

  /** The worker has ended. */
  remove(target: ConnectionTarget): void {
    const lost = this.#targets.get(target);
    this.#targets.delete(target);
    for (const socket of lost?.underWay.values() ?? []) this.give(socket);
  }

  /** The worker has received the connection, so this process closes its copy. */
  accepted(target: ConnectionTarget, id: number): void {
    const underWay = this.#targets.get(target)?.underWay;
    underWay?.get(id)?.destroy();
    underWay?.delete(id);
  }

  /** No worker will be added any more: connections that would wait are closed. */
  end(): void {
    this.#ended = true;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  }

  give(socket: Socket): void {
    const freest = this.#freest();
    if (freest === undefined) {
      if (!this.#ended && this.#waiting.length < MOST_WAITING) this.#waiting.push(socket);
      else socket.destroy();
      return;
    }
    const [target, { underWay }] = freest;
    this.#next += 1;
    const id = this.#next;
    underWay.set(id, socket);
    target.give(id, socket, () => {
      if (!underWay.delete(id)) return;
      this.closing(target);
      this.give(socket);
    });
  }

  #freest() {
    const all = [...this.#targets].filter(([, { closing }]) => !closing);
    const from = all.length === 0 ? 0 : this.#next % all.length;
    const turn = [...all.slice(from), ...all.slice(0, from)];
    const fewest = Math.min(...turn.map(([, { underWay }]) => underWay.size));
    return turn.find(([, { underWay }]) => underWay.size === fewest);
  }
}
