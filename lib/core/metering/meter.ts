import type { ShownResource } from '#lib/core/facts/resource';
import type { UsageReport } from '#lib/core/metering/usage';

/**
 * What an answer is worth once it has ended (contract: routing/own-end, routing/unusable-answer).
 * - `complete`: it said something, or reports usage, and has its family's own end; JSON that is whole.
 * - `error`: the provider put an error into it.
 * - `empty`: it has its end, but neither said something nor reports usage.
 * - `cut`: it lacks its family's own end, or stops inside a JSON value.
 * - `unread`: too long, or in no form that is read here: nothing is known against it.
 */
export type AnswerState = 'complete' | 'error' | 'empty' | 'cut' | 'unread';

/** Sees a copy of every byte of one answer and reports what it used. Pure but for its own state. */
export interface Meter {
  push(chunk: Uint8Array): void;
  /** The answer is over, successful or not. */
  end(): void;
  /** The usage as far as the answer has reported it; null: nothing so far. Flags are those of the report. */
  report(): UsageReport | null;
  /** The state of the answer now; after `end`, how it ended. */
  state(): AnswerState;
  /** Usage, the end or an error came since this was last called: worth a checkpoint before it is relayed. */
  takeTerminal(): boolean;
  /** UTF-8 bytes of output seen: the basis of an estimate. */
  readonly outputBytes: number;
  /**
   * How often the answer has said something so far (contract: routing/begun): events of a stream, pieces of a whole
   * answer that are more than white space.
   */
  readonly said: number;
  /** Everything that it will report has been seen; of a whole answer, that it could be read to its end. */
  readonly finished: boolean;
  /** The provider put an error into its answer. */
  readonly failed: boolean;
  /** The provider's newest error object, parsed; undefined: none. */
  readonly error: unknown;
  /** Events seen so far: the sequence number of the next one. */
  readonly events: number;
  /** Resources that the answer has shown so far, of a whole answer once it is over; in the order of showing. */
  readonly shown: readonly ShownResource[];
  /**
   * A whole answer once it is over, or the newest object of a stream that shows a job's state, parsed;
   * undefined: none, or it could not be read.
   */
  readonly answer: unknown;
  /** `answer_too_long` when an event or answer was too long to be read. */
  readonly flags: readonly string[];
}
