'use client';

import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { ReactNode, RefObject } from 'react';
import { classNames } from '#components/ui/class-names';
import { DialogClose } from '#components/ui/dialog-close';

export interface DialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  title: ReactNode;
  description?: ReactNode;
  children: ReactNode;
  /**
   * Only the dialog's own buttons close it, not Esc or a click outside, and it has no close button in the
   * corner. For content that is shown once.
   */
  sticky?: boolean;
  /**
   * What gets the focus afterwards; if not set, what had it before. False if another dialog follows: this one
   * fades out after that one has opened, and must not take the focus from it.
   */
  finalFocus?: RefObject<HTMLElement | null> | false;
  /** Below 640 px it is a sheet at the bottom of the window. */
  sheet?: boolean;
  className?: string;
}

/** The content of a dialog, loaded on first open. */
export function DialogBox({
  open,
  onOpenChange,
  title,
  description,
  children,
  sticky,
  finalFocus,
  sheet = false,
  className,
}: DialogProps) {
  return (
    <BaseDialog.Root
      open={open}
      disablePointerDismissal={sticky ?? false}
      onOpenChange={(next, details) => {
        if (!next && sticky && details.reason !== 'close-press' && details.reason !== 'imperative-action') {
          details.cancel();
          return;
        }
        onOpenChange(next);
      }}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-black/45 transition-opacity duration-150 data-[closed]:pointer-events-none data-[ending-style]:opacity-0 data-[starting-style]:opacity-0" />
        <BaseDialog.Viewport
          className={classNames(
            'fixed inset-0 z-50 grid justify-items-center overflow-y-auto p-3 data-[closed]:pointer-events-none sm:items-start sm:py-[8vh]',
            sheet && 'max-sm:p-0',
          )}
        >
          <BaseDialog.Popup
            {...(finalFocus === undefined ? {} : { finalFocus })}
            className={classNames(
              'relative my-auto w-full max-w-lg rounded-xl border border-line bg-surface shadow-pop transition-[opacity,transform] duration-150 sm:my-0',
              'data-[ending-style]:translate-y-2 data-[ending-style]:opacity-0 data-[starting-style]:translate-y-2 data-[starting-style]:opacity-0',
              sheet && 'max-sm:mb-0 max-sm:rounded-b-none max-sm:border-x-0 max-sm:border-b-0',
              className,
            )}
          >
            <header className="grid gap-1 px-5 pt-5 pr-12 sm:px-6">
              <BaseDialog.Title className="font-semibold text-base leading-6">{title}</BaseDialog.Title>
              {description ? (
                <BaseDialog.Description className="text-muted text-sm leading-5" render={<div />}>
                  {description}
                </BaseDialog.Description>
              ) : null}
            </header>
            {children}
            {/* Last in the DOM, so that the dialog opens on its first field. */}
            {sticky ? null : <DialogClose label="Close" />}
          </BaseDialog.Popup>
        </BaseDialog.Viewport>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
