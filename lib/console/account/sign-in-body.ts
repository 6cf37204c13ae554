import { readAtMost } from '#lib/platform/read-at-most';

/** A form of an email, a password and a token; next-auth would read one of any size into memory. */
const mostBytes = 16 * 1024;

/** The body of a request from nobody in particular; null when it is longer than any sign-in form. */
export async function readForm(request: Request): Promise<Buffer<ArrayBuffer> | null> {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) return null;
  return readAtMost(request.body, mostBytes);
}
