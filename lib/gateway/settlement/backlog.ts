import { closeSync, openSync, readSync } from 'node:fs';
import type { JournalFile, JournalFiles } from '#lib/gateway/settlement/journal/journal-files';
import type { DrainedEntry } from '#lib/gateway/settlement/pure/entry';
import { nextRecord, type Page } from '#lib/gateway/settlement/record/frame';
import { readDrained } from '#lib/gateway/settlement/record/read';

/** Entries of one write, in the order of the file. */
interface Run {
  /** null: the write failed, and only memory has them. */
  readonly file: JournalFile | null;
  readonly entries: readonly DrainedEntry[];
  /** Where their rows are; null: in memory of their own. */
  readonly page: Page | null;
  /** What it takes of that page. */
  readonly bytes: number;
  /** When it came, or what it was read back from: monotonic ms. */
  readonly sinceMono: number;
  drained: number;
}

/** Read back at once: a chunk is decoded on the thread that also serves calls. */
const chunkBytes = 1024 * 1024;

/** How much is kept in memory. */
interface Most {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * Ended calls and kept resources that the database does not have yet. At most `most` is kept in memory;
 * while the database is away longer, the rest is left to the files and read back from there.
 */
export class Backlog {
  readonly #files: JournalFiles;
  readonly #most: Most;
  readonly #report: (error: Error) => void;
  readonly #mono: () => number;
  #runs: Run[] = [];
  #held = 0;
  #heldBytes = 0;
  /** Where the entries that are not in memory begin. */
  #spilled: { file: JournalFile; at: number } | null = null;
  #left = 0;

  /** @param mono the time, ms. */
  constructor(
    files: JournalFiles,
    most: Most,
    report: (error: Error) => void,
    mono = () => performance.now(),
  ) {
    this.#mono = mono;
    this.#files = files;
    this.#most = most;
    this.#report = report;
  }

  /** Entries in memory and in the files. */
  get size(): number {
    return this.#held + this.#left;
  }

  /** How long the oldest entry has waited, ms; 0: none does. Of one in a file: since the first that was left to it. */
  get oldestMs(): number {
    const since = this.#runs[0]?.sinceMono ?? this.#spilled?.file.spilledMono ?? null;
    return since === null || this.size === 0 ? 0 : this.#mono() - since;
  }

  /** Whether this many more entries may be kept in memory. */
  holdsMore(count: number, bytes: number): boolean {
    const { entries: mostEntries, bytes: mostBytes } = this.#most;
    if (this.#spilled !== null || this.#held + count > mostEntries) return false;
    return this.#heldBytes + bytes <= mostBytes;
  }

  /**
   * @param file null when no file has them: their write failed.
   * @param page has the entries' rows until they are dropped; null: each has its own.
   */
  add(file: JournalFile | null, entries: readonly DrainedEntry[], page: Page | null, bytes: number): void {
    if (entries.length === 0) return;
    if (file) file.undrained += entries.length;
    page?.hold();
    this.#runs.push({ file, entries, page, bytes, sinceMono: this.#mono(), drained: 0 });
    this.#held += entries.length;
    this.#heldBytes += bytes;
  }

  /** Leaves entries to their file. @param at where their write began in it. */
  spill(file: JournalFile, at: number, count: number): void {
    if (count === 0) return;
    file.undrained += count;
    file.spilledMono ??= this.#mono();
    this.#spilled ??= { file, at };
    this.#left += count;
  }

  /** The oldest entries, at most `limit`; they stay until `drop`. */
  next(limit: number): DrainedEntry[] {
    if (this.#held === 0 && this.#spilled) this.#readBack();
    const found: DrainedEntry[] = [];
    for (const run of this.#runs) {
      if (found.length >= limit) break;
      found.push(...run.entries.slice(run.drained, run.drained + limit - found.length));
    }
    return found;
  }

  /**
   * The first `count` entries of `next` are in the database.
   * @returns those of them that are in no file.
   */
  drop(count: number): DrainedEntry[] {
    const homeless: DrainedEntry[] = [];
    this.#held -= count;
    let left = count;
    for (let run = this.#runs[0]; run && left > 0; run = this.#runs[0]) {
      const share = Math.min(left, run.entries.length - run.drained);
      left -= share;
      if (run.file) run.file.undrained -= share;
      else homeless.push(...run.entries.slice(run.drained, run.drained + share));
      run.drained += share;
      if (run.drained < run.entries.length) break;
      this.#runs.shift();
      run.page?.leave();
      this.#heldBytes -= run.bytes;
      if (run.file) this.#files.prune(run.file);
    }
    return homeless;
  }

  #readBack(): void {
    while (this.#spilled && this.#held === 0) {
      const { file, at } = this.#spilled;
      // A file may end with starts of calls: when nothing else is left in it, it may be gone by now.
      if (at < file.size && file.undrained > 0) {
        this.#spilled.at = this.#readChunk(file, at);
        continue;
      }
      const next = this.#files.since(file).find((one) => one !== file);
      this.#spilled = next ? { file: next, at: 0 } : null;
    }
    if (!this.#spilled) this.#left = 0;
  }

  /** @returns where the next chunk begins. */
  #readChunk(file: JournalFile, at: number): number {
    const entries: DrainedEntry[] = [];
    let end = at;
    for (let size = chunkBytes; end === at; size *= 2) {
      const bytes = readBytes(file.path, at, Math.min(size, file.size - at));
      for (const record of readDrained(bytes)) {
        const place = { file: file.number, end: at + record.end };
        if (record.entry) entries.push({ ...record.entry, place });
        end = at + record.end;
      }
      if (end > at) break;
      // Either the record is longer than the chunk, or it is damaged; then a whole one follows, or the file ends.
      const next = nextRecord(bytes, 1);
      if (next === null && at + size < file.size) continue;
      end = next === null ? file.size : at + next;
      // The file is kept, because it still counts the record as undrained; the next start sets the bytes aside.
      this.#report(new Error(`journal file ${file.path} is damaged from byte ${at} to ${end}`));
    }
    const sinceMono = file.spilledMono ?? this.#mono();
    if (entries.length > 0) this.#runs.push({ file, entries, page: null, bytes: 0, sinceMono, drained: 0 });
    this.#held += entries.length;
    this.#left -= entries.length;
    return end;
  }
}

function readBytes(path: string, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const fd = openSync(path, 'r');
  try {
    return bytes.subarray(0, readSync(fd, bytes, 0, length, at));
  } finally {
    closeSync(fd);
  }
}
