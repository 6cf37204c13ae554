import type { Ask, Family, StreamReader } from '#lib/families/family';
import type { Meter } from '#lib/metering/meter';
import type { UsageReport } from '#lib/metering/usage';
import { EventSplitter } from '#lib/relay/sse';

/** Meters an SSE answer, event by event. */
export function streamMeter(family: Family, ask: Ask): Meter {
  return new StreamMeter(family.streamReader(ask));
}

class StreamMeter implements Meter {
  readonly #reader: StreamReader;
  readonly #splitter = new EventSplitter();
  #events = 0;
  #told: UsageReport | null = null;
  #over = false;
  #terminal = false;

  constructor(reader: StreamReader) {
    this.#reader = reader;
  }

  push(chunk: Uint8Array): void {
    this.#terminal = false;
    const events = this.#splitter.push(chunk);
    if (events.length === 0) return;
    for (const event of events) {
      this.#events++;
      this.#reader.event(event.name, event.data);
    }
    const told = this.#reader.report();
    const over = this.#reader.finished() || this.#reader.failed();
    // What a stream tells at its start, its output still open, is no news worth waiting for the disk.
    this.#terminal = (told !== this.#told && !told?.outputOpen) || over !== this.#over;
    this.#told = told;
    this.#over = over;
  }

  end(): void {
    // A provider that leaves out the last blank line has still said what it said.
    const last = this.#splitter.flush();
    if (last === null) return;
    this.#events++;
    this.#reader.event(last.name, last.data);
  }

  report(): UsageReport | null {
    return this.#reader.report();
  }

  outputBytes(): number {
    return this.#reader.outputBytes();
  }

  finished(): boolean {
    return this.#reader.finished();
  }

  failed(): boolean {
    return this.#reader.failed();
  }

  events(): number {
    return this.#events;
  }

  terminalInLastPush(): boolean {
    return this.#terminal;
  }

  flags(): readonly string[] {
    return this.#splitter.overflowed ? ['answer_too_long'] : [];
  }
}
