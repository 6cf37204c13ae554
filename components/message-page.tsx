import type { ReactNode } from 'react';
import { Wordmark } from '#components/brand';

/** A page with a single message, such as not found or an error. */
export function MessagePage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="mx-auto grid min-h-dvh max-w-md content-center justify-items-start gap-4 p-6">
      <Wordmark />
      <h1 className="font-semibold text-xl tracking-tight">{title}</h1>
      {children}
    </main>
  );
}
