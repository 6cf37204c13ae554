import { type ReactNode, useId } from 'react';

/** A titled, framed section of a page. */
export function Section({ title, note, children }: { title: string; note?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="min-w-0 rounded-lg border bg-surface">
      <header className="flex flex-wrap items-baseline justify-between gap-x-4 border-b px-4 py-2.5">
        <h2 id={id} className="font-semibold text-[0.8125rem]">
          {title}
        </h2>
        {note ? <p className="text-muted text-xs">{note}</p> : null}
      </header>
      {children}
    </section>
  );
}
