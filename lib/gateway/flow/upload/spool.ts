import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BodyShare, createBodyBudget, FREE_BYTES } from '#lib/gateway/flow/body-budget';

/** Bytes per read of a spooled body. */
const PIECE_BYTES = 64 * 1024;
/** The disk budget is taken in steps of this many bytes. */
const STEP_BYTES = 1024 * 1024;

/** Holds multipart bodies while their calls run (contract: body/multipart): `DATA_DIR/tmp`. */
export interface SpoolRoom {
  /**
   * A new, empty file that only this user can read.
   * @param keyId the key whose share of the disk budget it counts against.
   * @param bytes the largest size that it can reach.
   * @throws Error of the file system.
   */
  open(keyId: string, bytes: number): Promise<Spool>;
}

/** One body on disk, from its first byte to the end of its call. */
export interface Spool {
  /** Waits for room in the disk budget. @throws Refused after waiting 10 s; Error of the file system. */
  append(chunk: Uint8Array): Promise<void>;
  /** The body is complete: it no longer counts against its key. */
  received(): void;
  /** Reads the bytes [start, end); may be called repeatedly. A reader that stops early leaves nothing open. */
  read(start: number, end: number): AsyncGenerator<Uint8Array>;
  /** Closes and deletes the file; a reader that is still running fails. Idempotent. */
  remove(): Promise<void>;
}

/**
 * @param folder that only this process uses.
 * @param totalBytes limit of all files together, so that uploads cannot fill the disk that the journal needs.
 */
export function openSpoolRoom(folder: string, totalBytes: number, waitMs?: number): SpoolRoom {
  const budget = createBodyBudget(totalBytes, 'disk space', waitMs);
  return {
    open: async (keyId, bytes) => {
      const path = join(folder, randomBytes(12).toString('hex'));
      return new FileSpool(path, await open(path, 'wx+', 0o600), budget.open(keyId, bytes), bytes);
    },
  };
}

class FileSpool implements Spool {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #share: BodyShare;
  readonly #mostBytes: number;
  #bytes = 0;
  /** Bytes that it may use; the first 256 KiB are free, as for bodies in memory. */
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
      if (bytesRead === 0) throw new Error('the temporary file of an upload was truncated');
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
