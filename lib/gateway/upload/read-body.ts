import { Refused, refusal } from '#lib/errors';
import type { Operation } from '#lib/families/family';
import { isMultipart } from '#lib/families/multipart/boundary';
import { type FieldSpec, type Scan, type ScanFault, scan, scanInSlices } from '#lib/families/scan';
import { FREE_BYTES } from '#lib/gateway/body-budget';
import type { Arrival } from '#lib/gateway/lane';
import type { Runtime } from '#lib/gateway/runtime';
import { readUpload } from '#lib/gateway/upload/read-upload';
import { takeTurn } from '#lib/gateway/upload/turns';

/**
 * Reads the body of a call, JSON or, where the operation accepts it, multipart; families see the same
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
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw invalid('The request body is encoded; send it without Content-Encoding.');
  }
  const contentType = headers['content-type'];
  if (contentType !== undefined && isMultipart(contentType)) {
    if (!operation.multipart) throw invalid('This path takes no multipart body; send a JSON object.');
    return readForm(runtime, arrival, { contentType, fields, keyId });
  }
  return body.read(runtime.limits.maxBodyBytes, keyId).then((bytes) => {
    if (bytes.length > FREE_BYTES) return scanInSlices(bytes, fields, takeTurn).then(sound);
    return sound(scan(bytes, fields));
  });
}

function sound(scanned: Scan | ScanFault): Scan {
  if ('fault' in scanned) throw invalid(scanned.fault);
  return scanned;
}

async function readForm(
  runtime: Runtime,
  { headers, body }: Arrival,
  form: { readonly contentType: string; readonly fields: FieldSpec; readonly keyId: string },
): Promise<Scan> {
  if (!runtime.uploads) throw invalid('This process takes no multipart bodies; send a JSON object.');
  const length = headers['content-length'] ?? '';
  const announced = /^\d{1,15}$/.test(length) ? Number(length) : null;
  const upload = await readUpload(
    body,
    { ...form, limit: runtime.limits.maxUploadBytes, announced },
    runtime.uploads,
  );
  body.onRelease(() => {
    upload.remove().catch((error: unknown) => runtime.report(error, null));
  });
  return upload.scan;
}

function invalid(message: string): Refused {
  return new Refused(refusal('invalid_body', message));
}
