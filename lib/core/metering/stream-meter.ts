import type { ShownResource } from '#lib/core/facts/resource';
import type { StreamReader } from '#lib/core/families/family';
import type { AnswerState, Meter } from '#lib/core/metering/meter';
import type { UsageReport } from '#lib/core/metering/usage';

interface Piece {
  readonly name: string | null;
  readonly data: string;
}

/** Finds the events or array elements of a byte stream. */
interface Splitter {
  push(chunk: Uint8Array): readonly Piece[];
  flush(): Piece | null;
  readonly overflowed: boolean;
  /** After `flush`: an array that was not closed, or an element that was not. */
  readonly open?: boolean;
  /** Bytes of an answer in which nothing could be read: an estimate may not be too low. */
  readonly unreadBytes?: number;
}

const nothing: readonly never[] = [];

/** Meters a streamed answer, event by event; an element of a streamed JSON array counts as an event without a name. */
export class StreamMeter implements Meter {
  readonly #reader: StreamReader;
  readonly #splitter: Splitter;
  #events = 0;
  #told = false;
  #over = false;
  #terminal = false;
  /** An error came before anything was said. */
  #failedFirst = false;
  /** Its last event stopped inside a JSON value. */
  #torn = false;

  constructor(reader: StreamReader, splitter: Splitter) {
    this.#reader = reader;
    this.#splitter = splitter;
  }

  push(chunk: Uint8Array): void {
    const reader = this.#reader;
    const events = this.#splitter.push(chunk);
    if (events.length === 0) return;
    for (const event of events) {
      this.#events++;
      reader.event(event.name, event.data);
      this.#failedFirst ||= reader.failed && reader.said === 0;
    }
    const told = this.#told || isTold(reader.report());
    const over = reader.finished || reader.failed;
    // Usage that grows with every event is worth the disk's time once, and once more at the end.
    if (told !== this.#told || over !== this.#over) this.#terminal = true;
    this.#told = told;
    this.#over = over;
  }

  end(): void {
    // A provider that leaves out the last blank line has still said what it said.
    const last = this.#splitter.flush();
    this.#torn ||= this.#splitter.open ?? false;
    if (last === null) return;
    this.#torn ||= !isWhole(last.data);
    this.#events++;
    this.#reader.event(last.name, last.data);
  }

  report(): UsageReport | null {
    return this.#reader.report();
  }

  state(): AnswerState {
    const reader = this.#reader;
    if (reader.failed) return 'error';
    if (this.#splitter.overflowed && !reader.ended) return 'unread';
    if (this.#torn || !reader.ended) return 'cut';
    return reader.said > 0 || reader.gaveReason || isTold(reader.report()) ? 'complete' : 'empty';
  }

  takeTerminal(): boolean {
    const terminal = this.#terminal;
    this.#terminal = false;
    return terminal;
  }

  get outputBytes(): number {
    return this.#reader.outputBytes + (this.#splitter.unreadBytes ?? 0);
  }

  /** What follows an error says nothing, however the chunks are cut. */
  get said(): number {
    return this.#failedFirst ? 0 : this.#reader.said;
  }

  get finished(): boolean {
    return this.#reader.finished;
  }

  get failed(): boolean {
    return this.#reader.failed;
  }

  get error(): unknown {
    return this.#reader.error;
  }

  /** A stream that is read again from its middle begins with a later number. */
  get events(): number {
    return Math.max(this.#events, this.#reader.nextNumber ?? 0);
  }

  get shown(): readonly ShownResource[] {
    return this.#reader.shown ?? nothing;
  }

  get answer(): unknown {
    return this.#reader.jobAnswer;
  }

  get flags(): readonly string[] {
    return this.#splitter.overflowed ? ['answer_too_long'] : nothing;
  }
}

/** Whether an event without its blank line was left whole. */
function isWhole(data: string): boolean {
  if (data.trim() === '[DONE]') return true;
  try {
    JSON.parse(data);
    return true;
  } catch {
    return false;
  }
}

/** What a stream reports at its start, before any output, need not wait for the disk. */
function isTold(report: UsageReport | null): boolean {
  return report !== null && !report.outputOpen;
}
