'use client';

import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { CloseSheet } from '#components/shell/popups/close-sheet';
import { SheetButton } from '#components/shell/popups/sheet-button';
import { buttonStyle } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';

/** The sidebar as a sheet over a narrow screen. */
export function OpenSheet({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState(true);
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger render={<SheetButton />} />
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/45 transition-opacity data-[ending-style]:opacity-0 data-[starting-style]:opacity-0" />
        <Dialog.Popup
          aria-label="Menu"
          className="fixed inset-y-0 left-0 z-40 w-72 max-w-[85vw] border-r bg-sunken shadow-pop transition-transform duration-150 data-[ending-style]:-translate-x-full data-[starting-style]:-translate-x-full"
        >
          <Dialog.Close
            aria-label="Close menu"
            className={classNames(
              buttonStyle({ tone: 'quiet', size: 'smallIcon' }),
              'absolute top-4 right-3',
            )}
          >
            <X />
          </Dialog.Close>
          <CloseSheet value={() => setOpen(false)}>{children}</CloseSheet>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
