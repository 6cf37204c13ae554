import type { ComponentProps } from 'react';
import { classNames } from '#components/ui/class-names';

/** Styles of a text input; shared with selects. */
export const inputStyle =
  'h-9 w-full min-w-0 rounded-md border border-line-strong/70 bg-surface px-3 text-ink text-sm placeholder:text-muted focus-visible:border-accent focus-visible:outline-2 focus-visible:outline-accent focus-visible:outline-offset-0 aria-invalid:border-bad disabled:opacity-50';

export function Input({ className, ...props }: ComponentProps<'input'>) {
  return <input className={classNames(inputStyle, className)} {...props} />;
}
