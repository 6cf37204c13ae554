import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BodyShare, createBodyBudget, FREE_BYTES } from '#lib/gateway/body-budget';

/** Bytes read from a spooled body at once. */
const PIECE_BYTES = 64 * 1024;
/** Room on disk is taken in steps of this size. */
const STEP_BYTES = 1024 * 1024;

/** Where multipart bodies lie while their calls run (decisions §4): `DATA_DIR/tmp`. */
export interface SpoolRoom {
  /**
   * A new, empty file that only this user can read.
   * @param keyId of whose part of the room it is taken.
   * @param bytes what it may come to hold.
   * @throws when the disk refuses.
   */
  open(keyId: string, bytes: number): Promise<Spool>;
}

/** One body on disk, from its first byte to the end of its call. */
export interface Spool {
  /** Waits until other uploads leave room. @throws Refused after 10 s of that; when the disk refuses. */
  append(chunk: Uint8Array): Promise<void>;
  /** The body has come whole: it no longer counts for its key. */
  received(): void;
  /** Reads the bytes [start, end), as often as asked; a reader that stops early leaves nothing open. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  /** Closes and deletes the file; a reader that still runs fails. Once is enough, twice does no harm. */
  remove(): Promise<void>;
}

/**
 * The room in `folder`; what a dead process left in it is deleted first.
 * @param totalBytes of all files together: uploads may not fill the disk that the journal needs.
 * @throws when the folder cannot be made.
 */
export function openSpoolRoom(folder: string, totalBytes: number, waitMs?: number): SpoolRoom {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) {
    if (!belongsToAnother(name)) rmSync(join(folder, name), { recursive: true, force: true });
  }
  const budget = createBodyBudget(totalBytes, 'disk space', waitMs);
  return {
    open: async (keyId, bytes) => {
      const path = join(folder, `${process.pid}-${randomBytes(12).toString('hex')}`);
      return new FileSpool(path, await open(path, 'wx+', 0o600), budget.open(keyId, bytes), bytes);
    },
  };
}

/** Files are named after the process that writes them; another one may run on the same folder. */
function belongsToAnother(name: string): boolean {
  const pid = Number(/^(\d+)-/.exec(name)?.[1] ?? 0);
  if (pid === 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

class FileSpool implements Spool {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #share: BodyShare;
  readonly #mostBytes: number;
  #bytes = 0;
  /** What it has of the room; small uploads are free, as small bodies in memory are. */
  #roomBytes = FREE_BYTES;
  #removed: Promise<void> | null = null;

  constructor(path: string, file: FileHandle, share: BodyShare, mostBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#share = share;
    this.#mostBytes = mostBytes;
  }

  async append(chunk: Uint8Array): Promise<void> {
    const needed = this.#bytes + chunk.length;
    if (needed > this.#roomBytes) {
      const steps = Math.ceil(needed / STEP_BYTES) * STEP_BYTES;
      this.#roomBytes = Math.max(needed, Math.min(steps, this.#mostBytes));
      await this.#share.grow(this.#roomBytes);
    }
    for (let from = 0; from < chunk.length; ) {
      const { bytesWritten } = await this.#file.write(chunk, from, chunk.length - from, this.#bytes);
      from += bytesWritten;
      this.#bytes += bytesWritten;
    }
  }

  received(): void {
    this.#share.received(this.#bytes);
  }

  async *read(start: number, end: number): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      if (this.#removed) throw new Error('the upload was removed while it was being read');
      const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
      const { bytesRead } = await this.#file.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error('the upload is shorter than it was');
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }

  remove(): Promise<void> {
    this.#removed ??= Promise.all([this.#file.close(), rm(this.#path, { force: true })])
      .then(() => {})
      .finally(() => this.#share.release());
    return this.#removed;
  }
}
