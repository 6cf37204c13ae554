import { readAtMost } from '#lib/platform/read-at-most';

/** Enough for an email, a password and a token; next-auth would read a form of any size into memory. */
const mostBytes = 16 * 1024;

/** Reads the body of an unauthenticated request; null if it is larger than any sign-in form. */
export async function readForm(request: Request): Promise<Buffer<ArrayBuffer> | null> {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) return null;
  return readAtMost(request.body, mostBytes);
}
