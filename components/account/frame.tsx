import type { ReactNode } from 'react';
import { Wordmark } from '#components/brand';
import { LoadedKeepFocus } from '#components/shell/loaded-keep-focus';

interface AccountFrameProps {
  title: string;
  /** One sentence below the title. */
  lead?: ReactNode;
  children: ReactNode;
  /** Below the frame: a link to another page. */
  below?: ReactNode;
}

/** The frame of the pages before the console: sign-in, sign-up and links from emails. */
export function AccountFrame({ title, lead, children, below }: AccountFrameProps) {
  return (
    <main tabIndex={-1} className="grid min-h-dvh content-center justify-items-center gap-6 p-4 outline-none">
      <LoadedKeepFocus />
      <Wordmark />
      <section className="w-full max-w-sm rounded-xl border bg-surface p-6 shadow-xs sm:p-8">
        <h1 className="font-semibold text-lg tracking-tight">{title}</h1>
        {lead ? <div className="mt-1 text-muted leading-5">{lead}</div> : null}
        <div className="mt-6">{children}</div>
      </section>
      {below ? <p className="text-center text-muted leading-5">{below}</p> : null}
    </main>
  );
}
