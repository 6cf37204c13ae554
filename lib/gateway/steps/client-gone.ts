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
 * A client that leaves costs what its provider makes it cost: where the provider goes on working
 * (`onDisconnect: drain`), the answer is read to its end for the exact usage, at most 32 at once;
 * elsewhere the connection is cut. Not sent whole: cut, nothing is owed. What begins or ends something at
 * the provider is heard out wherever and however many there are: else nobody would know of a job, or that
 * it is gone.
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
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#runtime.drains.running -= 1;
  }

  #leave(): void {
    const current = this.#exchange;
    const { drains } = this.#runtime;
    if (!current || this.#timer) return;
    const { ask, operation } = this.#call;
    const mustHear = ask?.job !== undefined || operation?.ends !== undefined;
    // What only reads what is kept costs nothing: nobody needs the rest of it.
    const mayHear = this.#policy === 'drain' && operation?.steps !== 'stored' && drains.running < drains.most;
    if (!current.sentWhole || !(mustHear || mayHear)) {
      current.abort(new ClientGone('the client left'));
      return;
    }
    drains.running += 1;
    this.#timer = setTimeout(
      () => current.abort(new ClientGone('the client left')),
      this.#call.ask?.stream ? DRAIN_STREAM_MS : DRAIN_WHOLE_MS,
    );
    current.resume();
  }
}
