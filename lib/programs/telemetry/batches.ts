import type { CallRecord } from '#lib/gateway/settlement/pure/entry';
import type { ExportFile, ExportFiles } from '#lib/programs/telemetry/export-files';
import { readEnds } from '#lib/programs/telemetry/read-calls';
import { spansOf } from '#lib/programs/telemetry/spans/call-spans';
import { chargeSpanOf, type LateCharge } from '#lib/programs/telemetry/spans/charge-span';
import type { ServerAddresses, Span } from '#lib/programs/telemetry/spans/span';

/** What one request carries. */
export interface Batch {
  /** The process that served the calls. */
  readonly ownerId: string;
  readonly spans: readonly Span[];
  /** Calls, and late charges. */
  readonly count: number;
  /** Records in between that cannot be read. */
  readonly unreadable: number;
  /** Whether it is full, so that more may be waiting. */
  readonly full: boolean;
  /** The file it comes from; null if it comes from no file. */
  readonly file: ExportFile | null;
  /** The collector has it, or never will: it is not sent again. */
  done(): void;
}

/** How many calls that are in no file are kept in memory. */
const mostRemembered = 10_000;

/** Everything that the collector does not have yet, oldest first, in batches. */
export class Batches {
  readonly #files: ExportFiles;
  readonly #ownerId: string;
  #remembered: CallRecord[] = [];
  #charges: { readonly charges: readonly LateCharge[]; readonly to: string } | null = null;
  addresses: ServerAddresses = new Map();

  constructor(files: ExportFiles, ownerId: string) {
    this.#files = files;
    this.#ownerId = ownerId;
  }

  /** @returns false if there is no room for it. */
  remember(call: CallRecord): boolean {
    if (this.#remembered.length >= mostRemembered) return false;
    this.#remembered.push(call);
    return true;
  }

  /** One batch at a time: the next is requested when the last is done. */
  putCharges(charges: readonly LateCharge[], to: string): void {
    this.#charges = { charges, to };
  }

  /** @param most calls in it. @returns null when nothing waits. @throws Error of the file system. */
  next(most: number): Batch | null {
    for (const file of this.#files.list()) {
      const batch = this.#fromFile(file, most);
      if (batch) return batch;
    }
    return this.#fromMemory(most) ?? this.#fromCharges();
  }

  #fromFile(file: ExportFile, most: number): Batch | null {
    const { size } = this.#files.extent(file);
    const from = this.#files.position(file);
    const spans: Span[] = [];
    let [end, count, unreadable] = [from, 0, 0];
    if (from < size) {
      for (const slice of readEnds(file.path, from, size)) {
        end = slice.end;
        if (slice.unreadable) unreadable++;
        if (slice.call === null) continue;
        spans.push(...spansOf(slice.call, this.addresses));
        count++;
        if (count >= most) break;
      }
    }
    const done = () => this.#files.advance(file, end);
    if (count > 0 || unreadable > 0) {
      return { ownerId: file.ownerId, spans, count, unreadable, full: count >= most, file, done };
    }
    // Only starts of calls, or nothing: the end of a finished file.
    if (end > from || !this.#files.extent(file).current) done();
    return null;
  }

  #fromMemory(most: number): Batch | null {
    const calls = this.#remembered.slice(0, most);
    if (calls.length === 0) return null;
    const spans = calls.flatMap((call) => spansOf(call, this.addresses));
    const done = () => {
      this.#remembered = this.#remembered.slice(calls.length);
    };
    return this.#batch(spans, calls.length, done, this.#remembered.length > most);
  }

  #fromCharges(): Batch | null {
    const waiting = this.#charges;
    if (!waiting) return null;
    const spans = waiting.charges.flatMap((charge) => chargeSpanOf(charge) ?? []);
    const done = () => {
      this.#charges = null;
      this.#files.noteCharges(waiting.to);
    };
    return this.#batch(spans, spans.length, done, false);
  }

  #batch(spans: readonly Span[], count: number, done: () => void, full: boolean): Batch {
    return { ownerId: this.#ownerId, spans, count, unreadable: 0, full, file: null, done };
  }
}
