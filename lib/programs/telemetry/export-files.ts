import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** Folder in DATA_DIR/journal with the exporter's links to the journal's files, and its positions in them. */
export const EXPORT_FOLDER = 'export';
const positionsFile = 'positions.json';

/** A file in the folder. */
export interface ExportFile {
  readonly name: string;
  readonly ownerId: string;
  readonly path: string;
}

/** How far a file of the running process has been written. */
export interface OwnFile {
  readonly name: string;
  /** Bytes of whole records: bytes after them may still be undone. */
  readonly size: number;
  /** Whether it is still written. */
  readonly current: boolean;
}

/**
 * @param worker number of the process among those that share the directory: the first has
 * DATA_DIR/journal/export.
 * @returns its folder, created if missing.
 * @throws Error of the file system.
 */
export function makeExportFolder(journalDir: string, worker = 1): string {
  const dir = join(journalDir, worker === 1 ? EXPORT_FOLDER : `${EXPORT_FOLDER}-${worker}`);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}

/**
 * Journal files that the collector does not have completely, with the byte up to which it has each. They are hard
 * links: the journal deletes its names when the drain no longer needs them, and the exporter deletes its own; neither
 * waits for the other.
 */
export class ExportFiles {
  readonly #dir: string;
  readonly #ownerId: string;
  #positions: Map<string, number>;
  #chargesTo: string | null;
  #own: readonly OwnFile[] = [];

  /** @param ownerId of the running process. @throws Error of the file system. */
  constructor(dir: string, ownerId: string) {
    this.#dir = dir;
    this.#ownerId = ownerId;
    const kept = readPositions(dir);
    this.#positions = new Map(kept.files.filter(([name]) => existsSync(join(dir, name))));
    this.#chargesTo = kept.chargesTo;
  }

  /** Up to when the collector has late charges (ISO); null before the first. */
  get chargesTo(): string | null {
    return this.#chargesTo;
  }

  /** Notes the state of the running process's own files. */
  note(own: readonly OwnFile[]): void {
    this.#own = own;
  }

  /** In the order in which they were written. @throws Error of the file system. */
  list(): ExportFile[] {
    return readdirSync(this.#dir)
      .flatMap((name) => {
        const found = shelfName.exec(name);
        return found ? [{ name, ownerId: found[1] ?? '', number: Number(found[2] ?? Infinity) }] : [];
      })
      .sort((a, b) => (a.ownerId === b.ownerId ? a.number - b.number : a.ownerId < b.ownerId ? -1 : 1))
      .map(({ name, ownerId }) => ({ name, ownerId, path: join(this.#dir, name) }));
  }

  /** Bytes that may be read, and whether more may follow. */
  extent({ name, ownerId, path }: ExportFile): { readonly size: number; readonly current: boolean } {
    const own = this.#own.find((one) => one.name === name);
    if (own) return own;
    // Just begun, and not reported yet.
    if (ownerId === this.#ownerId) return { size: 0, current: true };
    return { size: statSync(path, { throwIfNoEntry: false })?.size ?? 0, current: false };
  }

  position({ name }: ExportFile): number {
    return this.#positions.get(name) ?? 0;
  }

  /** The collector has everything before `end`. A finished file that it has completely leaves the folder. */
  advance(file: ExportFile, end: number): void {
    const { size, current } = this.extent(file);
    if (!current && end >= size) this.remove(file);
    else {
      this.#positions.set(file.name, end);
      this.#save();
    }
  }

  remove({ name, path }: ExportFile): void {
    rmSync(path, { force: true });
    this.#positions.delete(name);
    this.#save();
  }

  /** Late charges settled up to then are with the collector. */
  noteCharges(to: string): void {
    this.#chargesTo = to;
    this.#save();
  }

  /** If a position cannot be written, the next start only repeats calls. */
  #save(): void {
    const text = JSON.stringify({ files: [...this.#positions], chargesTo: this.#chargesTo });
    const path = join(this.#dir, positionsFile);
    try {
      writeFileSync(`${path}.tmp`, text, { mode: 0o600 });
      renameSync(`${path}.tmp`, path);
    } catch {
      // The disk is full, which the journal reports.
    }
  }
}

const shelfName = /^([0-9a-f-]{36})-(?:(\d+)|interrupted)\.log$/;

const positions = z.object({
  files: z.array(z.tuple([z.string(), z.int()])),
  chargesTo: z.string().nullable(),
});

/** The positions of the last run; none if the file is missing or damaged, so that everything is sent again. */
export function readPositions(dir: string): z.output<typeof positions> {
  try {
    return positions.parse(JSON.parse(readFileSync(join(dir, positionsFile), 'utf8')));
  } catch {
    return { files: [], chargesTo: null };
  }
}
