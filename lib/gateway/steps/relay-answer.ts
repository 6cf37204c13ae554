import { type Call, recordOf } from '#lib/gateway/call';
import { chargeCall } from '#lib/gateway/charge';
import type { HeaderList, Reply } from '#lib/gateway/lane';
import { learn } from '#lib/gateway/learn';
import type { Runtime } from '#lib/gateway/runtime';
import { createMeter, type Meter, mayStreamArray } from '#lib/metering/meter';
import { breakEnding } from '#lib/relay/break-ending';
import { framingOf } from '#lib/relay/framing';
import { createTap, type Tap } from '#lib/relay/tap';
import type { Answer } from '#lib/upstream/attempt';
import { failureName } from '#lib/upstream/classify';
import type { Exchange } from '#lib/upstream/exchange';
import { headersToClient, providerRequestId } from '#lib/upstream/headers';

/** What is left to send once the books are closed: the last byte. */
export type Ending = (reply: Reply) => void;

/** Checkpoints of a running stream are at most this far apart. */
const CHECKPOINT_MS = 1_000;

/**
 * Relays an answer, all but its last byte. Streams go out as they come; of a whole answer the newest
 * piece is held back, so that its end cannot reach the client before the journal has it.
 * @returns how to send the rest; the call holds its charge and end reason by then.
 */
export function relayAnswer(runtime: Runtime, call: Call, answer: Answer, reply: Reply): Promise<Ending> {
  const { exchange } = answer;
  const contentType = headerText(exchange.headers['content-type']);
  const answered = exchange.status >= 200 && exchange.status < 300;
  call.target = answer.target;
  call.status = exchange.status;
  const meter =
    answered && call.family && call.ask ? createMeter(call.family, call.ask, { contentType }) : null;
  const arrays = answered && call.family && call.ask ? mayStreamArray(call.family, call.ask) : false;
  const framing = framingOf(contentType, arrays);
  const streamed = framing !== 'whole';
  const injected = call.family && call.ask ? call.family.injectsUsage(call.ask, answer.target.offer) : false;
  const tap = createTap(meter, { removeUsage: framing === 'events' && injected });
  const headers = answerHeaders(call, answer, streamed);
  return new Promise((resolve) => {
    new AnswerRelay({ runtime, call, exchange, meter, tap, reply, headers, streamed, resolve }).run();
  });
}

interface RelayParts {
  readonly runtime: Runtime;
  readonly call: Call;
  readonly exchange: Exchange;
  readonly meter: Meter | null;
  readonly tap: Tap;
  readonly reply: Reply;
  readonly headers: HeaderList;
  /** Goes out as it comes, whatever its framing. */
  readonly streamed: boolean;
  readonly resolve: (ending: Ending) => void;
}

/** One answer on its way through: ends exactly once. */
class AnswerRelay {
  readonly #p: RelayParts;
  #started = false;
  /** Newest piece of a whole answer, not yet sent. */
  #last: Uint8Array | null = null;
  /** Pieces that wait for a checkpoint to be on disk. */
  #gated: Uint8Array[] | null = null;
  #gate: Promise<void> | null = null;
  #checkpointMono: number;
  #done = false;

  constructor(parts: RelayParts) {
    this.#p = parts;
    this.#checkpointMono = parts.runtime.clock.mono();
  }

  run(): void {
    const { reply, exchange } = this.#p;
    reply.onDrain(() => exchange.resume());
    exchange.read({
      data: (chunk) => this.#data(chunk),
      end: () => this.#end(),
      fail: (error) => this.#fail(error),
    });
  }

  #data(chunk: Uint8Array): void {
    const { call, runtime, tap, streamed } = this.#p;
    const nowMono = runtime.clock.mono();
    call.firstByteMono ??= nowMono;
    const pieces = tap.push(chunk);
    if (!streamed) {
      for (const piece of pieces) {
        if (this.#last) this.#send(this.#last);
        this.#last = piece;
      }
      return;
    }
    const terminal = tap.terminal();
    if (terminal || nowMono - this.#checkpointMono >= CHECKPOINT_MS) this.#checkpoint(nowMono, terminal);
    for (const piece of pieces) this.#send(piece);
  }

  /** The journal learns what the stream would cost now; before its own end goes out, it must have. */
  #checkpoint(nowMono: number, terminal: boolean): void {
    const { call, runtime, meter } = this.#p;
    this.#checkpointMono = nowMono;
    if (!call.claim || call.claim.funding === 'none') return;
    chargeCall(call, meter, true);
    const written = runtime.journal?.append({
      kind: 'checkpoint',
      callId: call.id,
      call: recordOf(call, nowMono),
    });
    void this.#growHold();
    if (!written) return;
    if (!terminal) {
      // A failed write stops admission by itself; this stream may run on.
      written.catch(() => {});
      return;
    }
    // What is gated already waits for the newest checkpoint.
    this.#gated ??= [];
    const gate: Promise<void> = written.then(
      () => {
        if (this.#gate === gate) this.#openGate();
      },
      (error: Error) => this.#fail(error),
    );
    this.#gate = gate;
  }

  #openGate(): void {
    const pieces = this.#gated ?? [];
    this.#gated = null;
    this.#gate = null;
    for (const piece of pieces) this.#send(piece);
  }

  async #growHold(): Promise<void> {
    const { call, runtime, exchange } = this.#p;
    if (!call.claim || !runtime.coordinator || call.uncappedNano <= call.holdNano) return;
    const wantedNano = call.uncappedNano;
    const grown = await runtime.coordinator.grow(call.claim, wantedNano);
    if (grown) call.holdNano = wantedNano;
    if (!grown && call.snapshot?.workspace.strict) exchange.abort(new HoldExhausted());
  }

  #send(piece: Uint8Array): void {
    const { call, reply, exchange, headers } = this.#p;
    if (call.gone) return;
    if (this.#gated) {
      this.#gated.push(piece);
      return;
    }
    if (!this.#started) {
      this.#started = true;
      reply.start(call.status, headers);
    }
    if (!reply.write(piece)) exchange.pause();
  }

  #end(): void {
    if (this.#done) return;
    if (this.#gate) {
      void this.#gate.then(() => this.#end());
      return;
    }
    this.#done = true;
    const { call, meter, tap, streamed, headers } = this.#p;
    // What an answer says at its very end, and a whole one at all, is read only now.
    meter?.end();
    this.#settle(call.gone ? 'client_gone' : tap.failed() ? 'upstream_error' : 'completed');
    const rest = tap.end();
    if (!streamed) {
      const last = joined([...(this.#last ? [this.#last] : []), ...rest]);
      const started = this.#started;
      this.#p.resolve((reply) => {
        if (!started) {
          if (headers['content-length'] === undefined) headers['content-length'] = String(last.length);
          reply.start(call.status, headers);
        }
        reply.end(last);
      });
      return;
    }
    this.#p.resolve((reply) => {
      if (!this.#started) reply.start(call.status, headers);
      for (const piece of rest) reply.write(piece);
      reply.end();
    });
  }

  /** The provider, a time limit or the client ended it. */
  #fail(error: Error): void {
    if (this.#done) return;
    this.#done = true;
    const { call, meter, tap, streamed, headers } = this.#p;
    meter?.end();
    const name = failureName(error);
    const exhausted = error instanceof HoldExhausted;
    this.#settle(call.gone ? 'client_gone' : name.endsWith('_timeout') ? 'timeout' : 'upstream_error');
    const held = [...(this.#gated ?? []), ...(this.#last ? [this.#last] : [])];
    this.#gated = null;
    const reason = exhausted
      ? {
          code: 'insufficient_balance',
          message: 'The balance does not cover the rest of this answer; add funds.',
        }
      : {
          code: 'upstream_request_failed',
          message: `The provider's answer broke off (${name}); retry, and quote the request id if it stays so.`,
        };
    const frame = streamed && call.family ? call.family.breakFrame(reason, tap.events()) : null;
    this.#p.resolve((reply) => {
      if (!this.#started) reply.start(call.status, headers);
      for (const piece of held) reply.write(piece);
      if (frame === null) reply.cut();
      else reply.end(breakEnding(tap.tail(), frame));
    });
  }

  #settle(reason: Call['endReason']): void {
    const { call, runtime, meter, exchange } = this.#p;
    call.endReason = reason;
    call.upstreamMs = runtime.clock.mono() - call.startMono - call.leadMs;
    chargeCall(call, meter, exchange.sentWhole);
    learn(runtime, call, this.#p.streamed);
  }
}

/** A strict workspace's hold could not grow with the stream (decisions §6 "Strict"). */
class HoldExhausted extends Error {}

function answerHeaders(call: Call, answer: Answer, streamed: boolean): HeaderList {
  const headers: HeaderList = {
    ...headersToClient(answer.exchange.headers),
    ...call.headers,
    'x-answered-model': answer.target.model.id,
    'x-answered-provider': answer.target.offer.provider.id,
    'x-attempts': String(call.attempts.length),
  };
  // Not the newest attempt's: an earlier answer passes when the last attempt got none.
  const upstreamId = providerRequestId(answer.exchange.headers, answer.target.credential);
  if (upstreamId) headers['x-upstream-request-id'] = upstreamId;
  if (streamed) {
    // Its length is not known before the end: an event may be removed and an error may be added.
    delete headers['content-length'];
    headers['cache-control'] ??= 'no-cache';
    headers['x-accel-buffering'] = 'no';
  }
  return headers;
}

function headerText(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces);
}
