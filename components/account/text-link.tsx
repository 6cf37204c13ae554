import Link from 'next/link';
import type { ComponentProps } from 'react';

/** An inline text link. */
export function TextLink(props: ComponentProps<typeof Link>) {
  return (
    <Link
      {...props}
      className="rounded-sm font-medium text-accent-ink underline underline-offset-2 hover:text-ink"
    />
  );
}
