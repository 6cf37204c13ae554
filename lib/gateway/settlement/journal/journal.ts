import { join } from 'node:path';
import { Backlog } from '#lib/gateway/settlement/backlog';
import { appendWhole, type JournalFile, JournalFiles } from '#lib/gateway/settlement/journal/journal-files';
import {
  type CheckpointEntry,
  type CloseEntry,
  type DrainedEntry,
  type Entry,
  type Journal,
  type OpenEntry,
  type RefusedEntry,
  writtenOf,
} from '#lib/gateway/settlement/pure/entry';
import type { RowBytes } from '#lib/gateway/settlement/pure/record/row-writer';
import { RecordBuffer, recordOf } from '#lib/gateway/settlement/record/frame';
import { encodeEntry, rowOf } from '#lib/gateway/settlement/record/payload';
import { CallTable } from '#lib/platform/call-table';

export interface JournalOptions {
  /** A write failed: admission must stop at once. Called once until `onWritable`. */
  onFailure(error: Error): void;
  /** Writing works again, into a new file. */
  onWritable(): void;
  /** A file was damaged while in use: the next start sets the damaged bytes aside. */
  report(error: Error): void;
  /** A new file was begun, which is deleted once the drain no longer needs it: other readers must link it. */
  onFile?(file: JournalFile): void;
  /** The end of a call was kept that is in no file. */
  onRemembered?(entry: CloseEntry | RefusedEntry): void;
  /** Bytes after which a new file begins; default 16 MiB. */
  rotateBytes?: number;
  /** Ended calls kept in memory for the drain; default 50,000. */
  mostHeld?: number;
  /** Bytes of their rows, and of what was written between them; default 128 MiB. */
  mostHeldBytes?: number;
  /** The time by which ended calls wait, ms; monotonic. */
  mono?(): number;
  /** Interval of test writes after a failure, ms; default 1 s. */
  probeMs?: number;
}

// Taken before Next is loaded, which wraps it.
const later = setImmediate;

/** The journal as its owner's drain sees it. */
export interface OwnJournal extends Journal {
  readonly ownerId: string;
  /** Ended calls and kept resources that wait for the drain. */
  readonly backlog: number;
  /** How long the oldest of them has waited, ms; 0: none does. */
  readonly oldestMs: number;
  /** Calls that are open in its files. */
  readonly open: number;
  /** The oldest of them, at most `limit`; they stay until `drop`. */
  next(limit: number): DrainedEntry[];
  /** The first `count` of `next` are in the database, or set aside. */
  drop(count: number): void;
  /** Keeps an entry that the database refuses in `<owner id>.rejected`, for the next start. */
  setAside(entry: DrainedEntry): void;
  /** How many entries `setAside` has kept. */
  readonly rejected: number;
  /** fdatasync of what was written since the last one. */
  sync(): Promise<void>;
  /** Writes what waits and ends; files with nothing left to drain are deleted. */
  close(): Promise<void>;
}

/** An entry of this tick, and where its row is among the tick's bytes. */
interface Written {
  readonly entry: Entry;
  readonly start: number;
  readonly end: number;
  /** Where its record ends. */
  readonly recordEnd: number;
}

/** A running call: what recovery would need of it. */
interface RunningCall {
  file: JournalFile;
  readonly open: OpenEntry;
  checkpoint: CheckpointEntry | null;
}

/**
 * Opens the journal of a new owner (contract: durability/journal).
 * @param dir DATA_DIR/journal; made when missing.
 * @throws Error when no file can be made there.
 */
export function openJournal(dir: string, ownerId: string, options: JournalOptions): OwnJournal {
  const { onFailure, onWritable, rotateBytes = 16 * 1024 * 1024, mostHeld = 50_000 } = options;
  const { mostHeldBytes = 128 * 1024 * 1024, probeMs = 1_000 } = options;
  const files = new JournalFiles(dir, ownerId, (file) => options.onFile?.(file));
  const backlog = new Backlog(
    files,
    { entries: mostHeld, bytes: mostHeldBytes },
    options.report,
    options.mono,
  );
  const running = new CallTable<RunningCall>();
  const buffer = new RecordBuffer();
  let tick: Written[] = [];
  let waiting: PromiseWithResolvers<void> | null = null;
  let probing: NodeJS.Timeout | null = null;
  let closed = false;
  let rejected = 0;

  function append(entry: Entry): Promise<void> {
    if (closed) return Promise.reject(new Error('the journal is closed'));
    const payload = encodeEntry(entry);
    const start = buffer.add(payload);
    const { start: from, end } = payload.row;
    tick.push({ entry, start, end: start + end - from, recordEnd: buffer.length });
    if (!waiting) {
      waiting = Promise.withResolvers<void>();
      // Nothing awaits a refusal's append: its failure must not end the process.
      waiting.promise.catch(() => {});
      later(flush);
    }
    return waiting.promise;
  }

  /** One write(2) for all appends of the tick. */
  function flush(): void {
    const [entries, promise] = [tick, waiting];
    if (!promise) return;
    tick = [];
    waiting = null;
    const bytes = buffer.bytes();
    try {
      if (files.current.size > rotateBytes) rotate();
      const at = files.current.size;
      files.write(bytes);
      note(entries, bytes.length, files.current, at);
      promise.resolve();
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      promise.reject(failure);
      fail(failure);
    }
    buffer.clear();
  }

  function fail(failure: Error): void {
    if (probing) return;
    onFailure(failure);
    probeLater();
  }

  function probeLater(): void {
    probing = setTimeout(probe, probeMs);
    probing.unref();
  }

  /** Repeats a test write until it succeeds; then a new file is begun. */
  function probe(): void {
    files
      .probe()
      .then(() => {
        if (closed) return;
        rotate();
        probing = null;
        onWritable();
      })
      .catch(probeLater);
  }

  /** Keeps account of what was written. @param at where in the file. */
  function note(entries: readonly Written[], size: number, file: JournalFile, at: number): void {
    const settled: DrainedEntry[] = [];
    const { page, at: begin } = buffer.page();
    const held = backlog.holdsMore(entries.length, size);
    let ended = 0;
    for (const { entry, start, end, recordEnd } of entries) {
      if (entry.kind === 'open') {
        running.set(entry.callId, { file, open: entry, checkpoint: null });
        file.opens++;
        continue;
      }
      if (entry.kind === 'checkpoint') {
        const call = running.get(entry.callId);
        if (call) call.checkpoint = entry;
        continue;
      }
      ended++;
      if (entry.kind === 'keep') {
        // Rare, and its reader knows no pages.
        if (held) {
          const row = Buffer.from(page.bytes.subarray(begin + start, begin + end));
          settled.push({ ...entry, row, place: { file: file.number, end: at + recordEnd } });
        }
        continue;
      }
      const place = { file: file.number, end: at + recordEnd };
      const row = { written: page.bytes, start: begin + start, end: begin + end };
      if (held) settled.push(writtenOf(entry, row, place));
      leave(entry.callId);
    }
    if (held) backlog.add(file, settled, page, size);
    else backlog.spill(file, at, ended);
  }

  /** Keeps an end that is in no file; until the drain has posted it, its `open` stays for recovery. */
  function remember(entry: CloseEntry | RefusedEntry): void {
    const row = copyOf(rowOf(entry));
    if (entry.kind === 'refused' && !backlog.holdsMore(1, row.length)) return;
    backlog.add(null, [writtenOf(entry, { written: row, start: 0, end: row.length })], null, row.length);
    options.onRemembered?.(entry);
  }

  function leave(callId: string): void {
    const call = running.get(callId);
    if (!call) return;
    running.delete(callId);
    call.file.opens--;
    if (call.file.opens === 0) files.prune(call.file);
  }

  /**
   * A new file; calls that have been open since before the last one are written again into it, so that
   * an hour-long stream does not keep an hour of files.
   */
  function rotate(): void {
    const last = files.current;
    files.rotate();
    const long = [...running.values()].filter((call) => call.file !== last);
    if (long.length === 0) return;
    const carried = long.flatMap(({ open, checkpoint }) => (checkpoint ? [open, checkpoint] : [open]));
    files.write(Buffer.concat(carried.map((entry) => recordOf(encodeEntry(entry)))));
    for (const call of long) move(call, files.current);
  }

  function move(call: RunningCall, file: JournalFile): void {
    const before = call.file;
    before.opens--;
    file.opens++;
    call.file = file;
    files.prune(before);
  }

  return {
    ownerId,
    get backlog() {
      return backlog.size;
    },
    get oldestMs() {
      return backlog.oldestMs;
    },
    get open() {
      return running.size;
    },
    append,
    remember,
    next: (limit) => backlog.next(limit),
    drop(count) {
      for (const entry of backlog.drop(count)) if (entry.kind !== 'keep') leave(entry.callId);
    },
    setAside(entry) {
      appendWhole(join(dir, `${ownerId}.rejected`), recordOf(encodeEntry(entry)));
      rejected += 1;
    },
    get rejected() {
      return rejected;
    },
    sync: () => files.sync(),
    async close() {
      flush();
      closed = true;
      if (probing) clearTimeout(probing);
      await files.close();
    },
  };
}

function copyOf({ bytes, start, end }: RowBytes): Buffer {
  return Buffer.from(bytes.subarray(start, end));
}
