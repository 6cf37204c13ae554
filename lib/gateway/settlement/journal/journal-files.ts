import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const syncData = promisify(fdatasync);
/** Room that a probe asks for: less would be used up again by the next calls. */
const probeBytes = 1024 * 1024;

/** One file of a journal, and what is still needed of it. */
export interface JournalFile {
  readonly number: number;
  readonly path: string;
  /** Bytes written. */
  size: number;
  /** Calls whose latest `open` is here and that have not ended. */
  opens: number;
  /** Records of ended and refused calls that are not in the database yet. */
  undrained: number;
  /** When the first of them was left only to the file, monotonic ms; null: none was. */
  spilledMono: number | null;
}

/** `<owner id>-<n>.log`: the names in DATA_DIR/journal. null for any other file. */
function readJournalName(name: string): { ownerId: string; number: number } | null {
  const match = /^([0-9a-f-]{36})-(\d+)\.log$/.exec(name);
  return match ? { ownerId: match[1] ?? '', number: Number(match[2]) } : null;
}

/** Every journal file of a directory with its owner and size; nothing when it does not exist. */
export function listJournalFiles(dir: string): { ownerId: string; bytes: number }[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir).flatMap((name) => {
    const ownerId = readJournalName(name)?.ownerId;
    // It may be deleted at that moment.
    const found = statSync(join(dir, name), { throwIfNoEntry: false });
    return ownerId === undefined || found === undefined ? [] : [{ ownerId, bytes: found.size }];
  });
}

/** The files of one owner: one is written, older ones wait until nothing in them is needed. */
export class JournalFiles {
  readonly #dir: string;
  readonly #ownerId: string;
  #fd: number;
  #files: JournalFile[];
  #current: JournalFile;
  /** Descriptors of finished files with bytes that the disk may not have yet. */
  #finished: number[] = [];
  #dirty = false;

  readonly #onFile: (file: JournalFile) => void;

  /**
   * @param onFile called with each new file, while it is still empty; must not throw.
   * @throws Error when the directory or the first file cannot be made.
   */
  constructor(dir: string, ownerId: string, onFile: (file: JournalFile) => void = () => {}) {
    this.#dir = dir;
    this.#ownerId = ownerId;
    this.#onFile = onFile;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const taken = readdirSync(dir).map(readJournalName);
    const last = Math.max(0, ...taken.map((name) => (name?.ownerId === ownerId ? name.number : 0)));
    this.#current = this.#fileOf(last + 1);
    this.#fd = openSync(this.#current.path, 'ax', 0o600);
    this.#files = [this.#current];
    onFile(this.#current);
  }

  get current(): JournalFile {
    return this.#current;
  }

  /** The written files from this one on, in order. */
  since(file: JournalFile): readonly JournalFile[] {
    return this.#files.filter((one) => one.number >= file.number);
  }

  /** Writes all bytes or none. @throws Error of the file system. */
  write(bytes: Buffer): void {
    const file = this.#current;
    this.#dirty = true;
    try {
      writeAll(this.#fd, bytes);
    } catch (error) {
      this.#withdraw(file);
      throw error;
    }
    file.size += bytes.length;
  }

  /** Whether a megabyte can be written beside the journal and reaches the disk. @throws Error of the file system. */
  async probe(): Promise<void> {
    const path = join(this.#dir, `.probe-${this.#ownerId}`);
    const file = await open(path, 'w', 0o600);
    try {
      // Without a name it goes with its process, however that ends.
      await rm(path);
      await file.writeFile(Buffer.alloc(probeBytes, 1));
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /** Goes on in a new file. @throws Error of the file system; the old file then stays in use. */
  rotate(): void {
    const next = this.#fileOf(this.#current.number + 1);
    const fd = openSync(next.path, 'ax', 0o600);
    this.#finished.push(this.#fd);
    const before = this.#current;
    this.#fd = fd;
    this.#current = next;
    this.#files.push(next);
    this.#onFile(next);
    this.prune(before);
  }

  /** Deletes a finished file that nothing needs any more. */
  prune(file: JournalFile): void {
    if (file === this.#current || file.opens > 0 || file.undrained > 0) return;
    if (remove(file)) this.#files = this.#files.filter((one) => one !== file);
  }

  /** Brings what was written to the disk (fdatasync). */
  async sync(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    const finished = this.#finished.splice(0);
    try {
      await Promise.all([this.#fd, ...finished].map((fd) => syncData(fd)));
    } finally {
      for (const fd of finished) closeSync(fd);
    }
  }

  /** Ends writing; files that nothing needs are deleted. */
  async close(): Promise<void> {
    await this.sync();
    closeSync(this.#fd);
    for (const file of this.#files) if (file.opens === 0 && file.undrained === 0) remove(file);
  }

  #fileOf(number: number): JournalFile {
    const path = join(this.#dir, `${this.#ownerId}-${number}.log`);
    return { number, path, size: 0, opens: 0, undrained: 0, spilledMono: null };
  }

  /** Takes a half-written record back; where even that fails, writing goes on in a new file. */
  #withdraw(file: JournalFile): void {
    try {
      ftruncateSync(this.#fd, file.size);
    } catch {
      this.rotate();
    }
  }
}

/**
 * Appends all bytes to a file (made when missing) and brings them to the disk, or none: what follows a
 * half-written record is never read.
 * @throws Error of the file system.
 */
export function appendWhole(path: string, bytes: Buffer): void {
  const fd = openSync(path, 'a', 0o600);
  try {
    const { size } = fstatSync(fd);
    try {
      writeAll(fd, bytes);
      fdatasyncSync(fd);
    } catch (error) {
      ftruncateSync(fd, size);
      throw error;
    }
  } finally {
    closeSync(fd);
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** A file that cannot be deleted is read once more at the next start, where nothing is posted twice. */
function remove({ path }: JournalFile): boolean {
  try {
    rmSync(path, { force: true });
    return true;
  } catch {
    return false;
  }
}
