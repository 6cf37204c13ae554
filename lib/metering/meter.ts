import type { UsageReport } from '#lib/metering/usage';
import type { ShownResource } from '#lib/resources/resource';

/** Sees a copy of every byte of one answer and reports what it used. Pure but for its own state. */
export interface Meter {
  push(chunk: Uint8Array): void;
  /** The answer is over, well or not. */
  end(): void;
  /** The usage as far as the answer has reported it; null: nothing so far. Flags are those of the report. */
  report(): UsageReport | null;
  /** UTF-8 bytes of output seen: the ground of an estimate. */
  outputBytes(): number;
  /** The family's own end was seen; of a whole answer, that it could be read to its end. */
  finished(): boolean;
  /** The provider put an error into its answer. */
  failed(): boolean;
  /** Events seen so far: the sequence number of the next one. */
  events(): number;
  /** The last pushed chunk carried usage, the end or an error: worth a checkpoint before it is relayed. */
  terminalInLastPush(): boolean;
  /** Resources that the answer has shown so far, of a whole one once it is over; in the order of showing. */
  shown(): readonly ShownResource[];
  /**
   * A whole answer once it is over, or the newest object of a stream that shows a job's state, parsed;
   * undefined: none, or it could not be read.
   */
  answer(): unknown;
  /** `answer_too_long` when an event or answer was too long to be read. */
  flags(): readonly string[];
}
