import { breakEnding } from '#lib/core/relay/break-ending';
import { chargeCall } from '#lib/gateway/flow/call/charge-call';
import { recordOf } from '#lib/gateway/flow/call/record';
import {
  breakFrame,
  HoldExhausted,
  type RelayParts,
  sendPiece,
  settleCall,
  withhold,
} from '#lib/gateway/flow/relay/parts';
import { NotKept, type Recorder } from '#lib/gateway/flow/relay/recorder';
import type { ExchangeReader } from '#lib/gateway/upstream/exchange';
import { UnusableAnswer } from '#lib/gateway/upstream/exchange-faults';

/** Checkpoints of a running stream are at most this far apart. */
const CHECKPOINT_MS = 1_000;

/** Bytes that wait for the disk or the database before the provider has to wait too. */
const MOST_GATED_BYTES = 1024 * 1024;

/**
 * Relays a stream as it comes; what reports its end, or shows what must be kept, waits for the disk. Ends
 * exactly once.
 */
export class StreamRelay implements ExchangeReader {
  readonly #p: RelayParts;
  #started = false;
  /** Pieces that wait for what is being written. */
  #gated: Uint8Array[] | null = null;
  #gatedBytes = 0;
  #gate: Promise<void> | null = null;
  #checkpointMono: number;
  #done = false;

  constructor(parts: RelayParts) {
    this.#p = parts;
    this.#checkpointMono = parts.runtime.clock.mono();
  }

  data(chunk: Uint8Array): void {
    const { call, runtime, tap, meter, recorder } = this.#p;
    const nowMono = runtime.clock.mono();
    call.outcome.firstByteMono ??= nowMono;
    const pieces = tap.push(chunk);
    const kept = recorder === null ? null : recorder.keepNew();
    if (kept) this.#waitFor(kept);
    const terminal = meter?.takeTerminal() ?? false;
    const settled = terminal && recorder !== null ? recorder.settleStored() : null;
    if (settled) this.#waitFor(settled);
    if (terminal || nowMono - this.#checkpointMono >= CHECKPOINT_MS) this.#checkpoint(nowMono, terminal);
    for (const piece of pieces) this.#send(piece);
  }

  /** Writes to the journal what the stream would cost now; before the stream's own end is sent, it must be written. */
  #checkpoint(nowMono: number, terminal: boolean): void {
    const { call, runtime, meter, recorder } = this.#p;
    this.#checkpointMono = nowMono;
    if (call.claim.funding === 'none') return;
    chargeCall(call, meter, { end: 'open' });
    const written = runtime.journal?.append({
      kind: 'checkpoint',
      callId: call.id,
      call: recordOf(call, nowMono),
    });
    void this.#growHold();
    if (!written) return;
    if (!terminal) {
      // A failed write already stops admission; this stream may continue.
      written.catch(() => {});
      return;
    }
    this.#waitFor(written);
    // The client may send a call that continues this one before the stream has ended.
    const told = recorder === null ? null : recorder.recordUsed();
    if (told) this.#waitFor(told);
  }

  /** Holds back all further pieces until this, and whatever is waited for already, has been written. */
  #waitFor(written: Promise<void>): void {
    this.#gated ??= [];
    const before = this.#gate;
    // In order: a resource that could not be kept must be known before a later failure ends the stream.
    written.catch(() => {});
    const both = before === null ? written : before.then(() => written);
    const gate: Promise<void> = both.then(
      () => {
        if (this.#gate === gate) this.#openGate();
      },
      (error: Error) => this.fail(error),
    );
    this.#gate = gate;
  }

  #openGate(): void {
    const pieces = this.#gated ?? [];
    const full = this.#gatedBytes > MOST_GATED_BYTES;
    this.#gated = null;
    this.#gatedBytes = 0;
    this.#gate = null;
    let keepsUp = true;
    for (const piece of pieces) keepsUp = this.#send(piece);
    // Last, because the next piece may arrive at once. A slow client has paused the provider again: no resume then.
    if (full && keepsUp) this.#p.exchange.resume();
  }

  async #growHold(): Promise<void> {
    const { call, runtime, exchange } = this.#p;
    const wantedNano = call.outcome.charge.uncappedNano;
    if (!runtime.coordinator || wantedNano <= call.outcome.holdNano) return;
    const grown = await runtime.coordinator.grow(call.claim, wantedNano);
    if (grown && wantedNano > call.outcome.holdNano) call.outcome.holdNano = wantedNano;
    if (!grown && call.snapshot.workspace.strict) exchange.abort(new HoldExhausted());
  }

  /** @returns false when the client is slower than the provider. */
  #send(piece: Uint8Array): boolean {
    const { call, reply, headers, meter } = this.#p;
    if (call.outcome.gone && call.answerClaim === null) return true;
    if (this.#gated) {
      this.#gated.push(piece);
      this.#gatedBytes += piece.length;
      if (this.#gatedBytes > MOST_GATED_BYTES) this.#p.exchange.pause();
      return true;
    }
    if (!this.#started) {
      this.#started = true;
      reply.start(call.outcome.status, headers);
    }
    // A client that leaves from here on has its answer (contract: routing/own-end).
    if (!call.outcome.gone && meter?.finished && !meter.failed) call.outcome.delivered = true;
    return sendPiece(this.#p, piece);
  }

  end(): void {
    if (this.#done) return;
    if (this.#gate) {
      void this.#gate.then(() => this.end());
      return;
    }
    const { meter, recorder } = this.#p;
    // The very end of an answer is read only now.
    meter?.end();
    const kept = recorder === null ? null : recorder.keepNew();
    if (kept) {
      this.#waitFor(kept);
      this.end();
      return;
    }
    if (this.isCut()) {
      this.fail(new UnusableAnswer('cut'));
      return;
    }
    this.#done = true;
    settleCall(this.#p, null);
    if (recorder) void this.#tell(recorder).then(() => this.#finish());
    else this.#finish();
  }

  /** It ended without its family's own end, which its offer is not known to leave out (contract: routing/own-end). */
  isCut(): boolean {
    const { call, meter } = this.#p;
    if (call.operation.steps !== 'generate' || meter?.state() !== 'cut') return false;
    return call.target.offer.streamEnd !== 'none' || meter.said === 0;
  }

  /** Records with the shown resources what the call used; if that fails, a later hold is only too small. */
  async #tell(recorder: Recorder): Promise<void> {
    await recorder.recordUsed()?.catch(() => {});
    await recorder.settleStored()?.catch(() => {});
    await recorder.over();
  }

  #finish(): void {
    const { call, tap, headers } = this.#p;
    const rest = tap.end();
    this.#p.resolve((reply) => {
      if (!this.#started) reply.start(call.outcome.status, headers);
      for (const piece of rest) reply.write(piece);
      reply.end();
    });
  }

  /** The provider, a time limit or the client ended it; or what it shows could not be kept. */
  fail(error: Error): void {
    if (this.#done) return;
    const unkept = error instanceof NotKept;
    if (this.#gate && !unkept) {
      // What waits may be sent only when it is written, also if nothing follows it.
      const gate = this.#gate;
      this.#gate = null;
      void gate.then(() => this.fail(error));
      return;
    }
    this.#done = true;
    const { call, meter, tap, recorder, headers, exchange } = this.#p;
    const held = unkept ? [] : (this.#gated ?? []);
    this.#gated = null;
    // If a later gate still opens, nothing more is sent.
    this.#gate = null;
    if (unkept) exchange.abort(error);
    if (unkept && !this.#started) {
      withhold(this.#p, error);
      return;
    }
    meter?.end();
    settleCall(this.#p, error);
    if (recorder) void this.#tell(recorder);
    const frame = breakFrame(this.#p, error);
    this.#p.resolve((reply) => {
      if (!this.#started) reply.start(call.outcome.status, headers);
      for (const piece of held) reply.write(piece);
      if (frame === null) reply.cut();
      else reply.end(breakEnding(tap.tail(), frame));
    });
  }
}
