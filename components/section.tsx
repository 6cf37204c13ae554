import { type ReactNode, useId } from 'react';

interface SectionProps {
  title: string;
  note?: ReactNode;
  /** What links to it have behind the "#". */
  anchor?: string;
  children: ReactNode;
}

/** A titled, framed section of a page. */
export function Section({ title, note, anchor, children }: SectionProps) {
  const id = useId();
  return (
    <section id={anchor} aria-labelledby={id} className="min-w-0 scroll-mt-16 rounded-lg border bg-surface">
      <header className="flex flex-wrap items-baseline justify-between gap-x-4 border-b px-4 py-2.5">
        <h2 id={id} className="font-semibold text-[0.8125rem]">
          {title}
        </h2>
        {note ? <div className="text-muted text-xs">{note}</div> : null}
      </header>
      {children}
    </section>
  );
}
