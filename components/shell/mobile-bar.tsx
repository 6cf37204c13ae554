'use client';

import { Dialog } from '@base-ui/react/dialog';
import { Menu as MenuIcon, X } from 'lucide-react';
import { useState } from 'react';
import { Wordmark } from '#components/brand';
import { Sidebar, type SidebarProps } from '#components/shell/sidebar';
import { buttonStyle } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';

/** On a narrow screen: the mark, and the sidebar as a sheet. */
export function MobileBar(sidebar: SidebarProps) {
  const [open, setOpen] = useState(false);
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center justify-between border-b bg-sunken px-4 lg:hidden">
      <Wordmark />
      <Dialog.Root open={open} onOpenChange={setOpen}>
        <Dialog.Trigger aria-label="Open menu" className={buttonStyle({ tone: 'plain', size: 'icon' })}>
          <MenuIcon />
        </Dialog.Trigger>
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
            <Sidebar {...sidebar} onNavigate={() => setOpen(false)} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </header>
  );
}
