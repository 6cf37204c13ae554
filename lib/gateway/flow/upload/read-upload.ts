import { Refused, unaccountable } from '#lib/core/errors';
import { readBoundary } from '#lib/core/families/multipart/boundary';
import { PartFinder } from '#lib/core/families/multipart/finder';
import { PartScan } from '#lib/core/families/multipart/scan-parts';
import { type FieldSpec, noScan, type Scan, type ScanFault } from '#lib/core/families/scan';
import type { BodySource } from '#lib/gateway/flow/lane';
import { invalidBody } from '#lib/gateway/flow/upload/body-faults';
import { Disagreement, SecondReader } from '#lib/gateway/flow/upload/second-reader';
import type { Spool, SpoolRoom } from '#lib/gateway/flow/upload/spool';
import { takeTurn } from '#lib/gateway/flow/upload/turns';

/** A multipart body on disk, and the values that the gateway reads from it. */
export interface ReadUpload {
  readonly scan: Scan;
  /** Deletes the file: the call is over. */
  remove(): Promise<void>;
}

/** What is known of a multipart body before it is read. */
export interface UploadFacts {
  readonly contentType: string;
  /** The fields that the gateway reads. */
  readonly fields: FieldSpec;
  /** Bytes (`MAX_UPLOAD_BYTES`), counted while reading. */
  readonly limit: number;
  /** Content-Length of what is read, bytes; null: not known. */
  readonly announced: number | null;
  /** The key whose share of the disk budget the body counts against. */
  readonly keyId: string;
}

/**
 * Reads a multipart body to a file while its parts are found (contract: body/multipart, body/multipart-agreement).
 * Two parsers see every byte and must agree; files never enter memory.
 * @throws Refused `invalid_body`; `local_quota_not_configured` when the disk cannot be written. The file is deleted
 * in both cases.
 */
export async function readUpload(
  body: BodySource,
  upload: UploadFacts,
  room: SpoolRoom,
): Promise<ReadUpload> {
  const { contentType, limit, announced, keyId } = upload;
  const boundary = readBoundary(contentType);
  if (typeof boundary !== 'string') throw invalidBody(boundary.fault);
  const mostBytes = Math.min(announced ?? limit, limit);
  const spool = await onDisk(room.open(keyId, mostBytes));
  try {
    const reading = new UploadReading(upload, boundary, spool, mostBytes);
    await body.pour(limit, (chunk) => reading.take(chunk), keyId);
    const scan = await reading.end();
    return { scan, remove: () => spool.remove() };
  } catch (error) {
    await spool.remove();
    throw error;
  }
}

/**
 * Reads a body of any bytes to a file, without a look at them.
 * @throws Refused `invalid_body`; `local_quota_not_configured` when the disk cannot be written. The file is deleted
 * in both cases.
 */
export async function readRaw(
  body: BodySource,
  { limit, keyId }: Pick<UploadFacts, 'limit' | 'keyId'>,
  room: SpoolRoom,
): Promise<ReadUpload> {
  const spool = await onDisk(room.open(keyId, limit));
  let bytes = 0;
  try {
    await body.pour(
      limit,
      (chunk) => {
        bytes += chunk.length;
        return onDisk(spool.append(chunk));
      },
      keyId,
    );
  } catch (error) {
    await spool.remove();
    throw error;
  }
  spool.received();
  const read = (start: number, end: number) => spool.read(start, end);
  return {
    scan: { ...noScan, upload: { bytes, textBytes: 0, files: [], read } },
    remove: () => spool.remove(),
  };
}

class UploadReading {
  readonly #scan: PartScan;
  readonly #spool: Spool;
  readonly #finder: PartFinder;
  readonly #secondReader: SecondReader;
  readonly #mostBytes: number;
  #bytes = 0;
  #fault: ScanFault | null = null;

  constructor({ contentType, fields }: UploadFacts, boundary: string, spool: Spool, mostBytes: number) {
    this.#mostBytes = mostBytes;
    this.#scan = new PartScan(fields);
    this.#spool = spool;
    this.#finder = new PartFinder(boundary, (part) => {
      this.#secondReader.compare(part);
      this.#fault ??= this.#scan.take(part);
    });
    this.#secondReader = new SecondReader(contentType);
  }

  async take(chunk: Uint8Array): Promise<void> {
    // A chunk may contain hundreds of parts, so only one chunk of all uploads is read in a round of the event loop.
    await takeTurn(this.#mostBytes - this.#bytes);
    this.#bytes += chunk.length;
    const fault = this.#finder.push(chunk) ?? this.#fault;
    if (fault) throw invalidBody(fault.fault);
    await agreed(async () => {
      await this.#secondReader.push(chunk);
    });
    await onDisk(this.#spool.append(chunk));
  }

  async end(): Promise<Scan> {
    const fault = this.#finder.end();
    if (fault) throw invalidBody(fault.fault);
    await agreed(() => this.#secondReader.end());
    this.#spool.received();
    return this.#scan.end(this.#bytes, (start, end) => this.#spool.read(start, end));
  }
}

async function agreed(read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof Disagreement)) throw error;
    throw invalidBody('The multipart body can be read in more than one way; send it with a standard client.');
  }
}

/** Waits for work on the file of an upload. @throws Refused `local_quota_not_configured` when the disk fails. */
export async function onDisk<Done>(work: Promise<Done>): Promise<Done> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(unaccountable('cannot keep the upload on disk', error));
  }
}
