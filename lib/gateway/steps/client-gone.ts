import type { Call } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import type { Exchange } from '#lib/upstream/exchange';

/** How long an answer is read on after its client left (decisions §6): streams, and whole answers. */
const DRAIN_STREAM_MS = 15_000;
const DRAIN_WHOLE_MS = 60_000;

class ClientGone extends Error {
  readonly code = 'CLIENT_GONE';
}

/** Watches one call's client: on leaving, the exchange under way is ended or read to its end. */
export interface GoneWatch {
  /** The exchange under way now, and the policy of its provider. */
  underway(exchange: Exchange, onDisconnect: 'abort' | 'drain'): void;
  /** The call is over: gives a drain's place back. */
  done(): void;
}

/**
 * A client that leaves gives its slot back, and costs what its provider makes it cost: the answer is read to
 * its end for the exact usage, unless the provider stops working for who is gone (`onDisconnect: abort`), the
 * request was not sent whole, or there are too many such answers already; then the connection is closed. What
 * begins or ends something at the provider is heard out wherever and however many there are: else nobody would
 * know of a job, or that it is gone.
 */
export function watchClient(runtime: Runtime, call: Call): GoneWatch {
  return new Watch(runtime, call);
}

class Watch implements GoneWatch {
  readonly #runtime: Runtime;
  readonly #call: Call;
  #exchange: Exchange | null = null;
  #policy: 'abort' | 'drain' = 'abort';
  #timer: NodeJS.Timeout | null = null;
  #giveBack: (() => void) | null = null;

  constructor(runtime: Runtime, call: Call) {
    this.#runtime = runtime;
    this.#call = call;
    call.arrival.onGone(() => {
      call.gone = true;
      this.#leave();
    });
  }

  underway(exchange: Exchange, onDisconnect: 'abort' | 'drain'): void {
    this.#exchange = exchange;
    this.#policy = onDisconnect;
    if (this.#call.gone) this.#leave();
  }

  done(): void {
    this.#exchange = null;
    if (this.#timer) clearTimeout(this.#timer);
    this.#giveBack?.();
  }

  #leave(): void {
    const { claim, ask } = this.#call;
    if (claim) this.#runtime.coordinator?.leave(claim);
    const current = this.#exchange;
    if (!current || this.#giveBack) return;
    this.#giveBack = current.sentWhole ? this.#beginDrain() : null;
    if (!this.#giveBack) {
      this.#close();
      return;
    }
    this.#timer = setTimeout(() => this.#close(), ask?.stream ? DRAIN_STREAM_MS : DRAIN_WHOLE_MS);
    current.resume();
  }

  /** @returns null when the answer is not worth reading on, or nobody has the time for it. */
  #beginDrain(): (() => void) | null {
    const { ask, operation, resource, snapshot } = this.#call;
    // The end of a stored response tells what it used, though all of it may have been read before.
    const tells = operation?.steps === 'stored' && ask?.stream === true && resource?.kind === 'response';
    const must = ask?.job !== undefined || operation?.ends !== undefined || tells;
    // What only counts, or reads what is kept, costs nothing: nobody needs the rest of it.
    const worth = this.#policy === 'drain' && operation?.steps === 'generate';
    if (!snapshot || !(must || worth)) return null;
    const { id, limits } = snapshot.key;
    return this.#runtime.drains.begin(id, limits.concurrency, must, () => this.#close());
  }

  #close(): void {
    this.#exchange?.abort(new ClientGone('the client left'));
  }
}
