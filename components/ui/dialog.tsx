'use client';

import { Suspense, useState } from 'react';
import { classNames } from '#components/ui/class-names';
import type { DialogProps } from '#components/ui/dialog-box';
import { later } from '#components/ui/on-demand';

const DialogBox = later(() => import('#components/ui/dialog-box').then((all) => all.DialogBox));

/**
 * A modal dialog: focus is trapped inside and goes back to where it came from. Its script is loaded on first
 * open.
 */
export function Dialog(props: DialogProps) {
  // Stays mounted once it was open, for its closing animation.
  const [wanted, want] = useState(props.open);
  if (props.open && !wanted) want(true);
  if (!wanted) return null;
  return (
    <Suspense fallback={null}>
      <DialogBox {...props} />
    </Suspense>
  );
}

export function DialogBody({ className, ...props }: React.ComponentProps<'div'>) {
  return <div className={classNames('grid gap-4 px-5 py-4 sm:px-6', className)} {...props} />;
}

export function DialogFooter({ className, ...props }: React.ComponentProps<'div'>) {
  return (
    <div
      className={classNames(
        'flex flex-wrap items-center justify-end gap-2 border-t bg-sunken/60 px-5 py-3.5 sm:px-6',
        'rounded-b-xl',
        className,
      )}
      {...props}
    />
  );
}
