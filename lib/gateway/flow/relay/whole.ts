import { Refused, refusal } from '#lib/core/errors';
import { MAX_ANSWER_BYTES } from '#lib/core/metering/whole-meter';
import { recordOf } from '#lib/gateway/flow/call/record';
import { hasHeader } from '#lib/gateway/flow/lane';
import {
  brokenNotice,
  type RelayParts,
  sendPiece,
  settleCall,
  withhold,
} from '#lib/gateway/flow/relay/parts';
import { NotKept, type Recorder } from '#lib/gateway/flow/relay/recorder';
import type { ExchangeReader } from '#lib/gateway/upstream/exchange';
import { UnusableAnswer } from '#lib/gateway/upstream/exchange-faults';

/**
 * Relays a whole answer. Its newest piece is held back, so that its end cannot reach the client before the
 * journal has it; of one that shows what must be kept, all of it is. Ends exactly once.
 */
export class WholeRelay implements ExchangeReader {
  readonly #p: RelayParts;
  #started = false;
  /** Newest pieces, not yet sent. */
  #held: Uint8Array[] = [];
  #heldBytes = 0;
  #done = false;

  constructor(parts: RelayParts) {
    this.#p = parts;
  }

  data(chunk: Uint8Array): void {
    const { call, runtime, tap, recorder } = this.#p;
    call.outcome.firstByteMono ??= runtime.clock.mono();
    for (const piece of tap.push(chunk)) {
      this.#heldBytes += piece.length;
      // An answer that is too long to be read shows nothing that could be kept.
      const plain = this.#p.answer.reading?.plain === true;
      if (!plain && (recorder === null || this.#heldBytes > MAX_ANSWER_BYTES)) this.#release();
      if (plain) this.#passOn(piece);
      else this.#held.push(piece);
    }
    if (call.outcome.gone && call.answerClaim === null) this.#held = [];
  }

  /** Of audio, whose player waits for it, only the last byte is held back. */
  #passOn(piece: Uint8Array): void {
    const bytes = joined([...this.#held, piece]);
    if (bytes.length < 2) {
      this.#held = [bytes];
      return;
    }
    this.#held = [bytes.subarray(0, -1)];
    this.#release();
    this.#held = [bytes.subarray(-1)];
  }

  #release(): void {
    const { call, reply, headers } = this.#p;
    const held = this.#held;
    if (held.length === 0) return;
    this.#held = [];
    if (call.outcome.gone && call.answerClaim === null) return;
    if (!this.#started) {
      this.#started = true;
      reply.start(call.outcome.status, headers);
    }
    for (const piece of held) sendPiece(this.#p, piece);
  }

  end(): void {
    if (this.#done) return;
    this.#done = true;
    const { meter, recorder } = this.#p;
    // The very end of an answer, and all of a whole answer, is read only now.
    meter?.end();
    if (this.isCut()) {
      this.#done = false;
      this.fail(new UnusableAnswer('cut'));
      return;
    }
    if (recorder) {
      void this.#keep(recorder);
      return;
    }
    settleCall(this.#p, null);
    this.#finish();
  }

  /** It stops inside a JSON value. */
  isCut(): boolean {
    const { call, meter } = this.#p;
    return call.operation.steps === 'generate' && meter?.state() === 'cut';
  }

  async #keep(recorder: Recorder): Promise<void> {
    const { ask } = this.#p.call;
    try {
      // A job that is open costs its call nothing; other resources are kept together with what the call used.
      if (ask.job) await recorder.keepNew();
      settleCall(this.#p, null);
      await Promise.all([recorder.keepNew(), this.#charged()]);
      await recorder.recordUsed();
      await recorder.settleStored();
    } catch (error) {
      withhold(this.#p, error instanceof NotKept ? error : new NotKept());
      return;
    }
    await recorder.over();
    this.#finish();
  }

  /**
   * What a cache costs is written together with its id, so that a process that is killed before the end of its call
   * leaves none that is owned and free (contract: batches/cache-charge).
   */
  async #charged(): Promise<void> {
    const { call, runtime } = this.#p;
    if (!call.operation.caches || call.claim.funding === 'none') return;
    const record = recordOf(call, runtime.clock.mono());
    await runtime.journal?.append({ kind: 'checkpoint', callId: call.id, call: record });
  }

  #finish(): void {
    const { call, tap, headers } = this.#p;
    const rest = tap.end();
    const started = this.#started;
    const last = this.#here(joined(rest.length === 0 ? this.#held : [...this.#held, ...rest]));
    this.#p.resolve((reply) => {
      if (!started) {
        const bodiless = call.outcome.status === 204 || call.outcome.status === 304;
        if (!bodiless && !hasHeader(headers, 'content-length'))
          headers.push('content-length', String(last.length));
        reply.start(call.outcome.status, headers);
      }
      reply.end(last);
    });
  }

  /** An answer that was held to its end has the gateway's addresses. */
  #here(answer: Uint8Array): Uint8Array {
    const { call, headers, recorder } = this.#p;
    const { family, operation } = call;
    if (this.#started || recorder === null || !family.answerHere) return answer;
    const here = family.answerHere(operation, answer);
    const at = headers.findIndex((text, place) => place % 2 === 0 && text === 'content-length');
    if (here !== answer && at >= 0) headers[at + 1] = String(here.length);
    return here;
  }

  /** The provider, a time limit or the client ended it: what could not be recorded is not shown either. */
  fail(error: Error): void {
    if (this.#done) return;
    this.#done = true;
    const { call, meter, recorder, headers, translated } = this.#p;
    meter?.end();
    settleCall(this.#p, error);
    const withholds = recorder !== null || translated;
    if (withholds && !this.#started && !call.outcome.gone) {
      // The client has seen nothing yet, so it can still get an error.
      const { code, message } = brokenNotice(error);
      withhold(this.#p, new Refused(refusal(code, message)));
      return;
    }
    const held = recorder === null ? this.#held : [];
    this.#p.resolve((reply) => {
      if (!this.#started) reply.start(call.outcome.status, headers);
      for (const piece of held) reply.write(piece);
      reply.cut();
    });
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only ? only : Buffer.concat(pieces);
}
