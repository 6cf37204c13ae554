import type { StoreSettings } from '#lib/gateway/content/objects/settings';

/** Something that the SDK threw, as far as it matters here. */
interface Thrown {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: unknown };
}

const remedies: Readonly<Record<string, string>> = {
  NoSuchBucket: 'the bucket does not exist: create it, or correct CONTENT_STORE',
  AccessDenied:
    'access is denied: allow these credentials s3:PutObject, s3:GetObject and s3:DeleteObject on all objects below CONTENT_STORE',
  InvalidAccessKeyId: 'the store does not know the access key: correct AWS_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the secret key is wrong: correct AWS_SECRET_ACCESS_KEY',
  ExpiredToken: 'the credentials have expired: renew them',
  RequestTimeTooSkewed: "this machine's clock is wrong: correct it",
  AuthorizationHeaderMalformed: 'the region is wrong: correct CONTENT_STORE_REGION',
  PermanentRedirect:
    'the bucket is in another region: correct CONTENT_STORE_REGION or CONTENT_STORE_ENDPOINT',
  CredentialsProviderError:
    'no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role',
};
const byStatus: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  403: 'AccessDenied',
  404: 'NoSuchBucket',
};

/**
 * What is wrong with the store, and what to do. Only names and numbers of what the store said are used: its own words
 * may quote a key.
 */
export function problemOf(error: unknown, { target, endpoint }: StoreSettings, withinMs: number): string {
  const { name, code, $metadata }: Thrown = typeof error === 'object' && error !== null ? error : {};
  const status = Number($metadata?.httpStatusCode ?? 0);
  const said = wordOf(name);
  const where = `the content store${target === null ? '' : ` (bucket ${target.bucket})`}`;
  const remedy = remedies[said] ?? remedies[byStatus[status] ?? ''];
  if (remedy !== undefined) return `${where}: ${remedy}`;
  if (said === 'AbortError' || said === 'TimeoutError' || wordOf(code) === 'ETIMEDOUT')
    return `${where} did not answer within ${withinMs / 1000} s`;
  if (status > 0) return `${where} answered ${status}${said === '' ? '' : ` (${said})`}`;
  const what = wordOf(code) || said || 'unknown error';
  const place = endpoint === null ? 'AWS' : new URL(endpoint).host;
  return `${where} cannot be reached at ${place} (${what})`;
}

function wordOf(value: unknown): string {
  return typeof value === 'string' && /^\w{1,60}$/.test(value) ? value : '';
}
