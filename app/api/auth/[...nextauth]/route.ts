import { cookies } from 'next/headers';
import { NextRequest } from 'next/server';
import NextAuth from 'next-auth';
import { authOptions } from '#lib/console/account/auth';
import { secretOfForm } from '#lib/console/account/cookie-secrets';
import { readForm } from '#lib/console/account/sign-in-body';
import { isWebAddress } from '#lib/console/addresses';

const formCookie = /^(?:__Host-)?next-auth\.csrf-token$/;

interface AuthContext {
  params: Promise<{ nextauth: string[] }>;
}

async function handle(request: NextRequest, context: AuthContext): Promise<Response> {
  const body = await readForm(request);
  if (body === null) {
    const message = 'The form data is too large.';
    return Response.json({ error: { message, code: 'invalid_body' } }, { status: 413 });
  }
  const url = new URL(request.url);
  if (!url.searchParams.getAll('callbackUrl').every(isWebAddress)) url.searchParams.delete('callbackUrl');
  await forgetFalseTarget();
  const read = new NextRequest(url, {
    method: request.method,
    headers: request.headers,
    ...(body.length > 0 ? { body } : {}),
  });
  return NextAuth(read, context, authOptions(await secretOfBegun()));
}

async function secretOfBegun(): Promise<string> {
  const cookie = (await cookies()).getAll().find(({ name }) => formCookie.test(name));
  return secretOfForm(cookie?.value);
}

/** Deletes an invalid redirect target. NextAuth reads its cookie through Next, not from the request. */
async function forgetFalseTarget(): Promise<void> {
  const jar = await cookies();
  for (const { name, value } of jar.getAll()) {
    if (/^(?:__Secure-)?next-auth\.callback-url$/.test(name) && value !== '' && !isWebAddress(value)) {
      jar.delete(name);
    }
  }
}

export { handle as GET, handle as POST };
