import { NextRequest } from 'next/server';
import NextAuth from 'next-auth';
import { authOptions } from '#lib/console/auth';
import { readForm } from '#lib/console/sign-in-body';

interface AuthContext {
  params: Promise<{ nextauth: string[] }>;
}

async function handle(request: NextRequest, context: AuthContext): Promise<Response> {
  const body = await readForm(request);
  if (body === null) {
    const message = 'This form is far too large.';
    return Response.json({ error: { message, code: 'invalid_body' } }, { status: 413 });
  }
  const read = new NextRequest(request.url, {
    method: request.method,
    headers: request.headers,
    ...(body.length > 0 ? { body } : {}),
  });
  return NextAuth(read, context, authOptions());
}

export { handle as GET, handle as POST };
