import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '#lib/core/errors';
import { appendWhole } from '#lib/gateway/settlement/journal/journal-files';
import type { DrainedEntry, Entry, JournalPlace } from '#lib/gateway/settlement/pure/entry';
import { recordOf } from '#lib/gateway/settlement/record/frame';
import { encodeEntry } from '#lib/gateway/settlement/record/payload';
import { type Piece, readJournal } from '#lib/gateway/settlement/record/read';

/** A record that could not be posted: damaged, or whole but refused by the database or unknown to this version. */
export interface SetAside {
  readonly kind: 'damaged' | 'rejected';
  /** The file in DATA_DIR/journal that keeps its bytes. */
  readonly file: string;
  /** Call of the record; null when it cannot be read. */
  readonly callId: string | null;
  /** The record's own kind: `open`, `checkpoint`, `close`, `refused`, `keep`; null when it cannot be read. */
  readonly record: string | null;
}

const damageSchema = z.object({
  /** The journal file that it was in, and its first byte there. */
  file: z.string(),
  atByte: z.int(),
  callId: z.string().nullable(),
  record: z.string().nullable(),
  /** ISO time of the start that found it. */
  foundAt: z.string(),
  /** The bytes as they were found, base64. */
  bytes: z.string(),
});

/** One line of `<owner id>.damaged`, as JSON. */
type Damage = z.infer<typeof damageSchema>;

/** Damaged bytes of the journal file `path` as `<owner id>.damaged` keeps them. @param nowMs ms since the epoch. */
function damageOf(path: string, atByte: number, bytes: Buffer, nowMs: number): Damage {
  const head = /"(open|checkpoint|close|refused|keep)","([0-9a-f-]{36})"/.exec(bytes.toString('latin1'));
  return {
    file: basename(path),
    atByte,
    callId: head?.[2] ?? null,
    record: head?.[1] ?? null,
    foundAt: new Date(nowMs).toISOString(),
    bytes: bytes.toString('base64'),
  };
}

/** Adds to `<owner id>.damaged`, each place once; the file is replaced whole. @throws Error of the file system. */
function keepDamage(dir: string, ownerId: string, found: readonly Damage[]): void {
  if (found.length === 0) return;
  const path = join(dir, `${ownerId}.damaged`);
  const lines = readLines(path);
  const places = new Set(lines.map(placeOf));
  for (const line of found.map((one) => JSON.stringify(one)))
    if (!places.has(placeOf(line))) lines.push(line);
  replaceFile(path, Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

/** A line up to its second value: the journal file and the byte at which the damage begins. */
function placeOf(line: string): string {
  return line.split(',', 2).join();
}

/** Replaces a file by these bytes; without any, it is deleted. @throws Error of the file system. */
export function replaceFile(path: string, bytes: Buffer): void {
  if (bytes.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  writeFileSync(`${path}.tmp`, bytes, { mode: 0o600, flush: true });
  renameSync(`${path}.tmp`, path);
}

/**
 * Everything that was set aside in a journal directory; nothing when it does not exist.
 * @throws Error of the file system.
 */
export function listSetAside(dir: string): SetAside[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .sort()
    .flatMap((file) => {
      if (file.endsWith('.damaged')) return damagedIn(join(dir, file), file);
      return file.endsWith('.rejected') ? rejectedIn(join(dir, file), file) : [];
    });
}

/** How many records of each kind are set aside in a journal directory. @throws Error of the file system. */
export function countSetAside(dir: string): { damaged: number; rejected: number } {
  const found = listSetAside(dir);
  const damaged = found.filter((one) => one.kind === 'damaged').length;
  return { damaged, rejected: found.length - damaged };
}

function damagedIn(path: string, file: string): SetAside[] {
  return readLines(path).map((line) => ({ kind: 'damaged', file, ...readDamage(line) }));
}

function rejectedIn(path: string, file: string): SetAside[] {
  return [...readJournal(path)].map((piece) =>
    piece.kind === 'entry'
      ? { kind: 'rejected', file, callId: piece.entry.callId, record: piece.entry.kind }
      : { kind: 'rejected', file, callId: null, record: null },
  );
}

function readLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}

/** A line that is not valid still counts as damage. */
function readDamage(line: string): Pick<Damage, 'callId' | 'record'> {
  try {
    const { callId, record } = damageSchema.parse(JSON.parse(line));
    return { callId, record };
  } catch {
    return { callId: null, record: null };
  }
}

interface LeftFile {
  readonly path: string;
  readonly number: number;
}

/** What was found, and where; null: among what was set aside. */
interface Found {
  readonly entry: Entry;
  readonly place: JournalPlace | null;
}

/**
 * What one dead process left in DATA_DIR/journal: `<owner id>-<n>.log` with its records, `<owner id>.rejected`
 * with whole records that could not be posted, which every start tries again, and `<owner id>.damaged`, which
 * keeps bytes that no record can be read from.
 */
export class Leftovers {
  readonly ownerId: string;
  /** Bytes of the files that were read, by number. */
  readonly sizes = new Map<number, number>();
  readonly #dir: string;
  readonly #files: readonly LeftFile[];
  readonly #rejectedPath: string;
  /** Files that could not be read, which are kept. */
  readonly #unread = new Set<string>();
  #damaged: ReturnType<typeof damageOf>[] = [];
  /** Whole records that this version cannot read. */
  #unreadable: Buffer[] = [];

  constructor(dir: string, ownerId: string, files: readonly LeftFile[]) {
    this.#dir = dir;
    this.ownerId = ownerId;
    this.#files = files;
    this.#rejectedPath = join(dir, `${ownerId}.rejected`);
  }

  /**
   * Every entry that can be read, in the order in which it was written.
   * @param report receives what cannot be read, and where it is kept.
   * @param nowMs ms since the epoch.
   */
  *entries(report: (error: Error) => void, nowMs: number): Generator<Found> {
    // Rejected ends come last: the `open` of such a call may still be in a file.
    for (const { path, number } of [...this.#files, { path: this.#rejectedPath, number: null }]) {
      if (!existsSync(path)) continue;
      try {
        const { size } = statSync(path);
        for (const piece of readJournal(path)) {
          const place = number === null ? null : { file: number, end: piece.end };
          if (piece.kind === 'entry') yield { entry: piece.entry, place };
          else this.#putAside(path, piece, report, nowMs);
        }
        if (number !== null) this.sizes.set(number, size);
      } catch (error) {
        this.#unread.add(path);
        const why = messageOf(error);
        report(new Error(`the journal file ${path} cannot be read and stays where it is: ${why}`));
      }
    }
  }

  /**
   * Keeps an entry that the database refuses in `<owner id>.rejected`, before its place in the journal is passed.
   * @throws Error of the file system.
   */
  setAside(entry: DrainedEntry): void {
    if (entry.place) appendWhole(this.#rejectedPath, recordOf(encodeEntry(entry)));
  }

  /** Called when all readable entries are posted: keeps those that the database refused, and deletes the rest. */
  remove(refused: readonly DrainedEntry[]): void {
    keepDamage(this.#dir, this.ownerId, this.#damaged);
    if (!this.#unread.has(this.#rejectedPath)) replaceFile(this.#rejectedPath, this.#rejected(refused));
    for (const { path } of this.#files) if (!this.#unread.has(path)) rmSync(path);
  }

  #putAside(
    path: string,
    piece: Exclude<Piece, { kind: 'entry' }>,
    report: (error: Error) => void,
    nowMs: number,
  ): void {
    const where = `bytes ${piece.start} to ${piece.end} of the journal file ${path}`;
    if (piece.kind === 'unreadable') {
      this.#unreadable.push(piece.bytes);
      report(new Error(`${where} are kept in ${this.#rejectedPath} for the next start: ${piece.why}`));
      return;
    }
    const damage = damageOf(path, piece.start, piece.bytes, nowMs);
    this.#damaged.push(damage);
    const whose = damage.callId === null ? '' : ` (call ${damage.callId})`;
    report(new Error(`${where} are damaged${whose} and were set aside as ${this.ownerId}.damaged`));
  }

  /** New content of `.rejected`, each record once. */
  #rejected(refused: readonly DrainedEntry[]): Buffer {
    const records = new Map<string, Buffer>();
    for (const entry of refused) {
      const record = recordOf(encodeEntry(entry));
      // A call ends once, but may have kept several things.
      records.set(entry.kind === 'keep' ? record.toString('latin1') : entry.callId, record);
    }
    for (const bytes of this.#unreadable) records.set(bytes.toString('latin1'), bytes);
    return Buffer.concat([...records.values()]);
  }
}

/** The dead owners that left files in a journal directory; none when it does not exist. */
export function listLeftovers(dir: string, alive: ReadonlySet<string>): Leftovers[] {
  const files = new Map<string, LeftFile[]>();
  for (const name of existsSync(dir) ? readdirSync(dir) : []) {
    const found = /^([0-9a-f-]{36})(?:-(\d+)\.log|\.rejected)$/.exec(name);
    const [, ownerId = '', number] = found ?? [];
    if (!found || alive.has(ownerId)) continue;
    const mine = files.get(ownerId) ?? [];
    files.set(ownerId, mine);
    if (number !== undefined) mine.push({ path: join(dir, name), number: Number(number) });
  }
  return [...files].map(
    ([ownerId, found]) =>
      new Leftovers(
        dir,
        ownerId,
        found.sort((a, b) => a.number - b.number),
      ),
  );
}
