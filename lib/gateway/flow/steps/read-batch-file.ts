import { atLine, readLine } from '#lib/core/batches/line';
import { isBlank, LongLine, linesOf } from '#lib/core/batches/lines';
import { isRefusal, type Refusal, Refused, refusal } from '#lib/core/errors';
import { isBatchFile, uploadedFile } from '#lib/core/families/chat/files';
import { applyEdits } from '#lib/core/families/edits';
import type { Scan, Upload } from '#lib/core/families/scan';
import { type AskedCall, extendCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { BatchLines } from '#lib/gateway/flow/steps/batch-lines';
import { planPlacedCall } from '#lib/gateway/flow/steps/plan-call';
import { onDisk } from '#lib/gateway/flow/upload/read-upload';
import type { Spool } from '#lib/gateway/flow/upload/spool';

/** Lines of one file; a provider takes so many in one batch. */
const MOST_LINES = 50_000;
const MOST_LINE_BYTES = 8 * 1024 * 1024;
/** Rewritten bytes that are collected before they are written to the disk. */
const WRITE_BYTES = 64 * 1024;
/** A model's name may be longer at the provider, and a budget may be added, in each line. */
const MOST_GROWTH_BYTES = 400;

/**
 * Plans an upload, and reads a file of requests first: each line is checked as a call would be, and written again with
 * the provider's name of the model (contract: batches/read, batches/bad-line). Memory: a line and the print of each
 * `custom_id`.
 * @throws Refused that names the line.
 */
export async function planUpload(runtime: Runtime, call: AskedCall): Promise<PlannedCall> {
  if (!isBatchFile(call.ask)) return planPlacedCall(runtime, call);
  const reader = new BatchFileReader(runtime, call);
  return reader.read();
}

class BatchFileReader {
  readonly #runtime: Runtime;
  readonly #call: AskedCall;
  readonly #upload: Upload;
  readonly #lines: BatchLines;

  constructor(runtime: Runtime, call: AskedCall) {
    const { upload } = call.ask.scan;
    if (!upload || !runtime.uploads) throw new Error('a file of requests is an upload');
    this.#runtime = runtime;
    this.#call = call;
    this.#upload = upload;
    this.#lines = new BatchLines(runtime, call, {
      most: MOST_LINES,
      tooMany: `A file may have ${MOST_LINES} lines; send more than one file.`,
      none: 'The file has no lines; send one request a line, as JSON.',
    });
  }

  async read(): Promise<PlannedCall> {
    const { start, bytes } = uploadedFile(this.#call.ask);
    const { uploads } = this.#runtime;
    if (!uploads) throw new Error('a file of requests is an upload');
    const { arrival, snapshot } = this.#call;
    const most = bytes + Math.min(MOST_LINES, bytes) * MOST_GROWTH_BYTES;
    const spool = await onDisk(uploads.open(snapshot.key.id, most));
    arrival.body.onRelease(() => {
      spool.remove().catch((error: unknown) => this.#runtime.report(error, this.#call.id));
    });
    const written = await this.#rewrite(spool, start, start + bytes);
    spool.received();
    const { planned, weight } = this.#lines.end();
    const { ask } = this.#call;
    const upload = withFile(this.#upload, { start, end: start + bytes, written, spool });
    const scan: Scan = { ...ask.scan, upload };
    return extendCall(planned, { ask: { ...planned.ask, scan, batch: weight } });
  }

  /** @returns bytes of the file as it is sent. */
  async #rewrite(spool: Spool, from: number, to: number): Promise<number> {
    const writer = new SpoolWriter(spool);
    let number = 0;
    try {
      for await (const line of linesOf(this.#upload.read(from, to), MOST_LINE_BYTES)) {
        number += 1;
        if (isBlank(line)) continue;
        await writer.write(await this.#take(number, line));
      }
    } catch (error) {
      if (!(error instanceof LongLine)) throw error;
      throw new Refused(atLine(number + 1, invalid('it is longer than 8 MiB; send a shorter request.')));
    }
    await writer.end();
    return writer.bytes;
  }

  /** Checks a line. @returns what is sent for it. */
  async #take(number: number, bytes: Uint8Array): Promise<Uint8Array> {
    const line = readLine(bytes);
    if (isRefusal(line)) throw new Refused(atLine(number, line));
    const edits = await this.#lines.take(line, (refused) => atLine(number, refused));
    const body = applyEdits(bytes.subarray(line.start, line.end), edits);
    return Buffer.concat([bytes.subarray(0, line.start), body, bytes.subarray(line.end), lineEnd]);
  }
}

const lineEnd = Buffer.from('\n');
/** Writes small pieces to the disk together. */
class SpoolWriter {
  bytes = 0;
  readonly #spool: Spool;
  #pieces: Uint8Array[] = [];
  #waiting = 0;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  async write(piece: Uint8Array): Promise<void> {
    this.#pieces.push(piece);
    this.#waiting += piece.length;
    this.bytes += piece.length;
    if (this.#waiting >= WRITE_BYTES) await this.end();
  }

  async end(): Promise<void> {
    if (this.#waiting === 0) return;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#waiting = 0;
    await onDisk(this.#spool.append(whole));
  }
}

/** The upload with another file in the place [start, end). */
function withFile(
  upload: Upload,
  { start, end, written, spool }: { start: number; end: number; written: number; spool: Spool },
): Upload {
  const after = start + written;
  return {
    ...upload,
    bytes: upload.bytes - (end - start) + written,
    read: async function* (from, to) {
      if (from < start) yield* upload.read(from, Math.min(to, start));
      if (to > start && from < after)
        yield* spool.read(Math.max(from, start) - start, Math.min(to, after) - start);
      if (to > after) yield* upload.read(Math.max(from, after) - after + end, to - after + end);
    },
  };
}

function invalid(message: string): Refusal {
  return refusal('invalid_body', message);
}
