import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import aws4 from 'aws4';

export const timeFault = 'Signature expired: its date is not within the allowed range.';

interface Signed {
  readonly request: IncomingMessage;
  /** Path and query as they were sent. */
  readonly path: string;
  readonly body: Buffer;
}

interface Known {
  readonly service: string;
  readonly nowMs: number;
  /** How far a signature's date may be from that, ms. */
  readonly mostMs: number;
  /** @returns null: no such key. */
  secretOf(
    id: string,
    token: string | undefined,
  ): { readonly secret: string; readonly token?: string } | 'expired' | null;
}

/**
 * Whether a request is signed by Signature Version 4 with known keys, as AWS's document says. It is checked by `aws4`,
 * which shares no code with the signer.
 * @returns null: it is.
 */
export function faultOfSignature({ request, path, body }: Signed, known: Known): string | null {
  const { service, nowMs, mostMs } = known;
  const { headers } = request;
  const authorization = headers.authorization ?? '';
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const [, id = '', , region = '', named, list = ''] = parts.exec(authorization) ?? [];
  if (named !== service) return 'The request is not signed for this service.';
  const token = headers['x-amz-security-token'];
  const found = known.secretOf(id, typeof token === 'string' ? token : undefined);
  if (found === 'expired') return 'The security token included in the request is expired';
  if (found === null) return 'The security token included in the request is invalid.';
  const hash = createHash('sha256').update(body).digest('hex');
  const said = headers['x-amz-content-sha256'];
  if (said !== undefined && said !== hash) return 'The body is not the one that was signed.';
  const sentDate = String(headers['x-amz-date'] ?? '');
  const atMs = Date.parse(
    sentDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'),
  );
  if (!(Math.abs(atMs - nowMs) <= mostMs)) return timeFault;
  const signedHeaders = Object.fromEntries(
    list.split(';').map((name) => [name, String(headers[name] ?? '')]),
  );
  if (!('host' in signedHeaders) || !('x-amz-date' in signedHeaders)) return 'A header is not signed.';
  const sent = {
    method: request.method ?? '',
    path,
    service,
    region,
    headers: signedHeaders,
    body: body.toString(),
    // `aws4` would sign one more.
    extraHeadersToIgnore: 'content-length' in signedHeaders ? {} : { 'content-length': true },
  };
  const again = aws4.sign(sent, {
    accessKeyId: id,
    secretAccessKey: found.secret,
    ...(found.token && { sessionToken: found.token }),
  });
  const expected = String(again.headers?.Authorization).split('Signature=')[1];
  if (expected === authorization.split('Signature=')[1]) return null;
  return 'The request signature we calculated does not match the signature you provided.';
}
