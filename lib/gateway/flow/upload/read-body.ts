import { lengthOf } from '#lib/core/audio/length';
import { Refused } from '#lib/core/errors';
import type { Operation } from '#lib/core/families/family';
import { isMultipart } from '#lib/core/families/multipart/boundary';
import { type Scan, type ScanFault, scan, scanInSlices } from '#lib/core/families/scan';
import { FREE_BYTES } from '#lib/gateway/flow/body-budget';
import type { Arrival, BodySource } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { invalidBody } from '#lib/gateway/flow/upload/body-faults';
import { readCoding } from '#lib/gateway/flow/upload/decoder';
import {
  onDisk,
  type ReadUpload,
  readRaw,
  readUpload,
  type UploadFacts,
} from '#lib/gateway/flow/upload/read-upload';
import { takeTurn } from '#lib/gateway/flow/upload/turns';

/**
 * Reads the body of a call, JSON or, if the operation accepts it, multipart; families see the same
 * scan for both (contract: body/one-pass). An upload stays on disk until the call is over.
 * @param keyId the key whose share of the body budget a large body counts against.
 * @throws Refused `invalid_body`.
 */
export function readBody(
  runtime: Runtime,
  arrival: Arrival,
  operation: Operation,
  keyId: string,
): Promise<Scan> {
  const { headers, body } = arrival;
  const fields = operation.fields ?? {};
  const coding = readCoding(headers['content-encoding']);
  if (coding instanceof Refused) throw coding;
  const contentType = headers['content-type'];
  if (contentType !== undefined && isMultipart(contentType)) {
    if (!operation.multipart)
      throw invalidBody('This path does not accept multipart bodies; send a JSON object.');
    const length = coding === null ? (headers['content-length'] ?? '') : '';
    const announced = /^\d{1,15}$/.test(length) ? Number(length) : null;
    return readForm(runtime, body, { contentType, fields, keyId, announced, listensTo: operation.listensTo });
  }
  if (operation.multipart === 'only') {
    const what = operation.listensTo === undefined ? 'it' : 'the audio';
    throw invalidBody(
      `This path takes multipart/form-data; send ${what} as the file "${operation.listensTo ?? 'file'}" of a form.`,
    );
  }
  return body.read(runtime.limits.maxBodyBytes, keyId).then((bytes) => {
    if (bytes.length > FREE_BYTES) return scanInSlices(bytes, fields, takeTurn).then(sound);
    return sound(scan(bytes, fields));
  });
}

/**
 * Reads a part of an upload, any bytes, to the disk, where it stays until the call is over.
 * @param limit bytes that the part may have.
 * @throws Refused as `readBody`.
 */
export async function readPart(
  runtime: Runtime,
  { headers, body }: Arrival,
  limit: number,
  keyId: string,
): Promise<Scan> {
  const coding = readCoding(headers['content-encoding']);
  if (coding instanceof Refused) throw coding;
  if (!runtime.uploads) throw invalidBody('This gateway process does not accept uploads.');
  const most = Math.min(limit, runtime.limits.maxUploadBytes);
  const upload = await readRaw(body, { limit: most, keyId }, runtime.uploads);
  removeLater(runtime, body, upload);
  return upload.scan;
}

function removeLater(runtime: Runtime, body: BodySource, upload: ReadUpload): void {
  body.onRelease(() => {
    upload.remove().catch((error: unknown) => runtime.report(error, null));
  });
}

function sound(scanned: Scan | ScanFault): Scan {
  if ('fault' in scanned) throw invalidBody(scanned.fault);
  return scanned;
}

type Form = Omit<UploadFacts, 'limit'> & { readonly listensTo: string | undefined };

async function readForm(runtime: Runtime, body: BodySource, form: Form): Promise<Scan> {
  if (!runtime.uploads)
    throw invalidBody('This gateway process does not accept multipart bodies; send a JSON object.');
  const upload = await readUpload(body, { ...form, limit: runtime.limits.maxUploadBytes }, runtime.uploads);
  removeLater(runtime, body, upload);
  return form.listensTo === undefined ? upload.scan : withLength(upload.scan, form.listensTo);
}

/** Finds out how long the audio in a part is: its bytes are read once more from the disk (contract: money/audio-length). */
async function withLength(scanned: Scan, field: string): Promise<Scan> {
  const { upload } = scanned;
  const file = upload?.files.find((one) => one.field === field);
  if (!upload || !file) return scanned;
  const audioMs = await onDisk(lengthOf(upload.read(file.start, file.start + file.bytes)));
  return { ...scanned, upload: { ...upload, audioMs } };
}
