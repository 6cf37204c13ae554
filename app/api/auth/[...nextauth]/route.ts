import type { NextRequest } from 'next/server';
import NextAuth from 'next-auth';
import { authOptions } from '#lib/console/auth';

interface AuthContext {
  params: Promise<{ nextauth: string[] }>;
}

async function handle(request: NextRequest, context: AuthContext): Promise<Response> {
  return NextAuth(request, context, authOptions());
}

export { handle as GET, handle as POST };
