import type { ReactNode } from 'react';

interface EmptyStateProps {
  icon: ReactNode;
  title: string;
  children: ReactNode;
  /** The next step: a button, a link, a snippet. */
  action?: ReactNode;
}

/** Shown instead of an empty list: why there is nothing, and what to do next. */
export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="grid justify-items-center gap-2 rounded-lg border border-dashed bg-surface px-6 py-14 text-center">
      <div
        aria-hidden
        className="mb-2 grid size-11 place-items-center rounded-full bg-accent-soft text-accent-ink [&_svg]:size-5"
      >
        {icon}
      </div>
      <h2 className="font-semibold text-base">{title}</h2>
      <div className="max-w-md text-muted text-sm leading-6">{children}</div>
      {action ? <div className="mt-3 grid w-full justify-items-center gap-3">{action}</div> : null}
    </div>
  );
}
