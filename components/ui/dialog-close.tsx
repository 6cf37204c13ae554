'use client';

import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { buttonStyle } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';

/** The close button in the corner of a dialog or sheet. */
export function DialogClose({ label, className }: { label: string; className?: string }) {
  return (
    <Dialog.Close
      aria-label={label}
      className={classNames(
        buttonStyle({ tone: 'quiet', size: 'smallIcon' }),
        'absolute top-4 right-4',
        className,
      )}
    >
      <X />
    </Dialog.Close>
  );
}
