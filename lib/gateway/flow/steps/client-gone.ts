import type { Call, PlannedCall } from '#lib/gateway/flow/call/call';
import type { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { Exchange } from '#lib/gateway/upstream/exchange';

/** Longest drain of a stream and of a whole answer after the client has left (contract: money/drain). */
const DRAIN_STREAM_MS = 15_000;
const DRAIN_WHOLE_MS = 60_000;

/** Of a stream that begins with a sign of life. */
const streamHeaders = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'no-cache',
  'x-accel-buffering',
  'no',
];

class ClientGone extends Error {
  readonly code = 'CLIENT_GONE';
}

/**
 * Watches the client of one call. When it leaves, its concurrency slots are freed and its answer is drained: read to
 * its end for the exact usage. The connection is closed instead if the provider stops working then (`onDisconnect:
 * abort`), the request was not sent completely, or too many drains are running. Calls that create or end something at
 * the provider are always drained: otherwise the gateway would not learn of a new job, or that one has ended.
 */
export class GoneWatch {
  readonly #runtime: Runtime;
  readonly #call: Call;
  readonly #reply: LiveReply;
  #exchange: Exchange | null = null;
  #policy: 'abort' | 'drain' = 'abort';
  #timer: NodeJS.Timeout | null = null;
  #giveBack: (() => void) | null = null;

  constructor(runtime: Runtime, call: Call, reply: LiveReply) {
    this.#runtime = runtime;
    this.#call = call;
    this.#reply = reply;
    call.arrival.onGone(() => {
      call.outcome.gone = true;
      reply.leave();
      this.#leave();
    });
  }

  /** Sets the current exchange, and the policy of its provider. */
  underway(exchange: Exchange, onDisconnect: 'abort' | 'drain'): void {
    this.#exchange = exchange;
    this.#reply.underway(exchange);
    this.#policy = onDisconnect;
    if (this.#call.outcome.gone) this.#leave();
  }

  /** Signs of life have been sent: the client can only get a stream of events. */
  get opened(): boolean {
    return this.#reply.opened;
  }

  /** Shows signs of life while its stream is silent (contract: routing/sign-of-life). */
  await({ family, ask, headers }: PlannedCall): void {
    const { signOfLife: frame } = family;
    if (!ask.stream || frame === null || this.#call.outcome.gone) return;
    this.#reply.watch({
      ...this.#runtime.signOfLife,
      frame,
      headers: [
        ...headers,
        ...streamHeaders,
        ...(this.#runtime.closesStreams ? ['connection', 'close'] : []),
      ],
    });
  }

  /** The call is over: its drain, if any, ends. */
  done(): void {
    this.#exchange = null;
    this.#reply.done();
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
    const soon = ask?.stream && !this.#isAwaited();
    this.#timer = setTimeout(() => this.#close(), soon ? DRAIN_STREAM_MS : DRAIN_WHOLE_MS);
    current.resume();
  }

  /** @returns null when the answer is not worth draining, or too many drains are running. */
  #beginDrain(): (() => void) | null {
    const { ask, operation, resource, snapshot } = this.#call;
    // The usage comes at the end of a stored response, whose text the client may have read already.
    const tells = operation?.steps === 'stored' && ask?.stream === true && resource?.kind === 'response';
    const changes =
      ask?.job !== undefined || operation?.resourceEffect !== undefined || operation?.caches === true;
    const must = changes || tells || this.#isAwaited();
    // Token counts and reads cost nothing, so there is no usage to wait for.
    const worth = this.#policy === 'drain' && operation?.steps === 'generate';
    if (!snapshot || !(must || worth)) return null;
    const { id, limits } = snapshot.key;
    return this.#runtime.drains.begin(id, limits.concurrency, must, () => this.#close());
  }

  /** Its client will ask for the answer again (contract: repeats/left). */
  #isAwaited(): boolean {
    return this.#call.answerClaim?.wanted.kind === 'repeat';
  }

  #close(): void {
    this.#exchange?.abort(new ClientGone('the client left'));
  }
}
