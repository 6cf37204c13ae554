import { Refused, refusal, unaccountable } from '#lib/errors';
import { readBoundary } from '#lib/families/multipart/boundary';
import { type Part, PartFinder } from '#lib/families/multipart/finder';
import { fieldNamed } from '#lib/families/multipart/names';
import { scanParts } from '#lib/families/multipart/scan-parts';
import type { FieldSpec, Scan, ScanFault } from '#lib/families/scan';
import type { BodySource } from '#lib/gateway/lane';
import type { Spool, SpoolRoom } from '#lib/gateway/upload/spool';
import { createWitness, Disagreement } from '#lib/gateway/upload/witness';

/** A multipart body that lies on disk, and the values that the gateway reads of it. */
export interface ReadUpload {
  readonly scan: Scan;
  /** Deletes the file: the call is over. */
  remove(): Promise<void>;
}

/**
 * Reads a multipart body to a file while its parts are found (decisions §4 "Multipart"). Two parsers see
 * every byte and must agree; files never enter memory.
 * @param limit bytes (`MAX_UPLOAD_BYTES`), counted while reading.
 * @param announced its length as the client tells it, bytes; null: it does not.
 * @throws Refused `invalid_body`; `local_quota_not_configured` when the disk refuses. Nothing stays on
 * disk then.
 */
export async function readUpload(
  body: BodySource,
  contentType: string,
  spec: FieldSpec,
  limit: number,
  announced: number | null,
  room: SpoolRoom,
): Promise<ReadUpload> {
  const boundary = readBoundary(contentType);
  if (typeof boundary !== 'string') throw invalid(boundary);
  const spool = await onDisk(room.open(Math.min(announced ?? limit, limit)));
  try {
    const reading = new UploadReading(boundary, contentType, spec, spool);
    await body.pour(limit, (chunk) => reading.take(chunk));
    const scan = await reading.end();
    return { scan, remove: () => spool.remove() };
  } catch (error) {
    await spool.remove();
    throw error;
  }
}

class UploadReading {
  readonly #spec: FieldSpec;
  readonly #spool: Spool;
  readonly #finder: PartFinder;
  readonly #witness: ReturnType<typeof createWitness>;
  readonly #parts: Part[] = [];
  #bytes = 0;

  constructor(boundary: string, contentType: string, spec: FieldSpec, spool: Spool) {
    this.#spec = spec;
    this.#spool = spool;
    this.#finder = new PartFinder(boundary, (part) => this.#keep(part));
    this.#witness = createWitness(contentType);
  }

  async take(chunk: Uint8Array): Promise<void> {
    this.#bytes += chunk.length;
    const fault = this.#finder.push(chunk);
    if (fault) throw invalid(fault);
    await agreed(async () => {
      await this.#witness.push(chunk);
    });
    await onDisk(this.#spool.append(chunk));
  }

  async end(): Promise<Scan> {
    const fault = this.#finder.end();
    if (fault) throw invalid(fault);
    await agreed(() => this.#witness.end());
    const files = this.#parts.filter(({ filename }) => filename !== null);
    const texts = this.#parts.filter(({ filename }) => filename === null);
    const scan = scanParts(this.#parts, this.#spec, {
      bytes: this.#bytes,
      textBytes: texts.reduce((sum, { start, end }) => sum + end - start, 0),
      files: files.map(({ name, mediaType, start, end }) => ({ name, mediaType, bytes: end - start })),
      read: (start, end) => this.#spool.read(start, end),
    });
    if ('fault' in scan) throw invalid(scan);
    return scan;
  }

  /** Of texts only those that the operation reads stay in memory. */
  #keep(part: Part): void {
    this.#witness.compare(part);
    const isRead = part.text !== null && fieldNamed(this.#spec, part.name) !== null;
    this.#parts.push(isRead ? part : { ...part, text: null });
  }
}

async function agreed(read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof Disagreement)) throw error;
    throw invalid({
      fault: 'The multipart body can be read in more than one way; send it with a standard client.',
    });
  }
}

async function onDisk<Done>(work: Promise<Done>): Promise<Done> {
  try {
    return await work;
  } catch {
    throw new Refused(unaccountable('cannot write the upload to its disk'));
  }
}

function invalid({ fault }: ScanFault): Refused {
  return new Refused(refusal('invalid_body', fault));
}
