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
 * elsewhere the connection is cut. Not sent whole: cut, nothing is owed.
 */
export function watchClient(runtime: Runtime, call: Call): GoneWatch {
  let exchange: Exchange | null = null;
  let policy: 'abort' | 'drain' = 'abort';
  let timer: NodeJS.Timeout | null = null;

  const leave = () => {
    if (!exchange || timer) return;
    const current = exchange;
    const mayDrain = policy === 'drain' && current.sentWhole && runtime.drains.running < runtime.drains.most;
    if (!mayDrain) {
      current.abort(new ClientGone('the client left'));
      return;
    }
    runtime.drains.running += 1;
    timer = setTimeout(
      () => current.abort(new ClientGone('the client left')),
      call.ask?.stream ? DRAIN_STREAM_MS : DRAIN_WHOLE_MS,
    );
    current.resume();
  };

  call.arrival.onGone(() => {
    call.gone = true;
    leave();
  });
  return {
    underway: (next, onDisconnect) => {
      exchange = next;
      policy = onDisconnect;
      if (call.gone) leave();
    },
    done: () => {
      exchange = null;
      if (!timer) return;
      clearTimeout(timer);
      runtime.drains.running -= 1;
    },
  };
}
