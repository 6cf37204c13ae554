import type { ReactNode } from 'react';

interface PageHeadProps {
  title: ReactNode;
  /** One sentence about what the page is for. */
  children?: ReactNode;
  action?: ReactNode;
}

export function PageHead({ title, children, action }: PageHeadProps) {
  return (
    <header className="flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="grid min-w-0 gap-1">
        <h1 className="font-semibold text-xl tracking-tight">{title}</h1>
        {children ? <p className="max-w-2xl text-muted leading-5">{children}</p> : null}
      </div>
      {action}
    </header>
  );
}
