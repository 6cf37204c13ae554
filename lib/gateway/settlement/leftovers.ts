import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '#lib/core/errors';
import { appendWhole } from '#lib/gateway/settlement/journal/journal-files';
import type { DrainedEntry, Entry, JournalPlace } from '#lib/gateway/settlement/pure/entry';
import { encodeEntry } from '#lib/gateway/settlement/record/encode';
import { recordOf } from '#lib/gateway/settlement/record/frame';
import { type Piece, readJournal } from '#lib/gateway/settlement/record/read';
import { damageOf, keepDamage, replaceFile } from '#lib/gateway/settlement/set-aside';

interface LeftFile {
  readonly path: string;
  /** null: of `.rejected.corrupt`, whose records were set aside. */
  readonly number: number | null;
}

/** What was found, and where; null: among what was set aside. */
export interface Found {
  readonly entry: Entry;
  readonly place: JournalPlace | null;
}

/**
 * What one dead process left in DATA_DIR/journal: `<owner id>-<n>.log` with its records, `<owner id>.rejected`
 * with whole records that could not be posted, which every start tries again, and `<owner id>.damaged`, which
 * keeps bytes that no record can be read from. `.corrupt` ends the names of files that an earlier version gave
 * up at their first damage; they are read like the others.
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
    // Rejected ends come last: the `open` of such a call may still stand in a file.
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
    const found = /^([0-9a-f-]{36})(?:-(\d+)\.log|\.rejected)(\.corrupt)?$/.exec(name);
    const [, ownerId = '', number] = found ?? [];
    if (!found || alive.has(ownerId)) continue;
    const mine = files.get(ownerId) ?? [];
    files.set(ownerId, mine);
    // `.rejected` is read after these files; `.rejected.corrupt` of an earlier version comes last among them.
    if (name.endsWith('.rejected')) continue;
    mine.push({ path: join(dir, name), number: number === undefined ? null : Number(number) });
  }
  const order = ({ number }: LeftFile) => number ?? Infinity;
  return [...files].map(
    ([ownerId, found]) =>
      new Leftovers(
        dir,
        ownerId,
        found.sort((a, b) => order(a) - order(b)),
      ),
  );
}
