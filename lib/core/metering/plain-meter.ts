import type { BodyReader } from '#lib/core/families/family';
import type { AnswerState, Meter } from '#lib/core/metering/meter';
import type { UsageReport } from '#lib/core/metering/usage';

/** Meters a whole answer that is not JSON: its family's reader sees every byte as it comes, and nothing is kept. */
export class PlainMeter implements Meter {
  readonly events = 0;
  readonly failed = false;
  readonly error = undefined;
  readonly shown = [];
  readonly answer = undefined;
  readonly flags = [];
  readonly #reader: BodyReader;
  said = 0;
  finished = false;

  constructor(reader: BodyReader) {
    this.#reader = reader;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.said += 1;
    this.#reader.push(chunk);
  }

  end(): void {
    this.finished = true;
  }

  report(): UsageReport | null {
    return this.#reader.report();
  }

  /** Whether it is complete is only known to the transport: nothing in the bytes says so. */
  state(): AnswerState {
    return this.said > 0 ? 'complete' : 'empty';
  }

  takeTerminal(): boolean {
    return false;
  }

  get outputBytes(): number {
    return this.#reader.outputBytes;
  }
}
