'use client';

import { type ReactNode, type RefObject, Suspense, useState } from 'react';
import { classNames } from '#components/ui/class-names';
import { later } from '#components/ui/on-demand';

const DialogBox = later(() => import('#components/ui/dialog-box').then((all) => all.DialogBox));

export interface DialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: ReactNode;
  description?: ReactNode;
  children: ReactNode;
  /**
   * Nothing but the dialog's own buttons closes it: neither Esc nor a press outside, and there is no
   * cross. For what is shown once.
   */
  sticky?: boolean;
  /**
   * What gets the focus afterwards; without it, what had it before. False when another dialog follows: this one fades
   * out after that one has opened, and must not take the focus out of it.
   */
  finalFocus?: RefObject<HTMLElement | null> | false;
  className?: string;
}

/**
 * A modal dialog: focus is trapped inside and goes back to where it came from. Its script is loaded when it is
 * first opened.
 */
export function Dialog(props: DialogProps) {
  // Kept once it was open, to close in its own time.
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
