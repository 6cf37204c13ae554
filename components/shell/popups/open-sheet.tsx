'use client';

import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { CloseSheet } from '#components/shell/popups/close-sheet';
import { SheetButton } from '#components/shell/popups/sheet-button';
import { DialogClose } from '#components/ui/dialog-close';

/** The sidebar as a sheet on narrow screens. */
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
          <DialogClose label="Close menu" className="right-3" />
          <CloseSheet value={() => setOpen(false)}>{children}</CloseSheet>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
