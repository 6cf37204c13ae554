'use client';

import { SlidersHorizontal, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '#components/ui/button';
import { Dialog, DialogBody, DialogFooter } from '#components/ui/dialog';

interface FilterSheetProps {
  /** How many filters are set. */
  given: number;
  /** Removes all of them; without it, the sheet has no buttons of its own. */
  onClear?(): void;
  children: ReactNode;
}

/** The filters of a list below 640 px: a button that says how many are set, and a sheet at the bottom of the window. */
export function FilterSheet({ given, onClear, children }: FilterSheetProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button className="sm:hidden" aria-haspopup="dialog" aria-expanded={open} onClick={() => setOpen(true)}>
        <SlidersHorizontal />
        {given > 0 ? `Filters (${given})` : 'Filters'}
      </Button>
      <Dialog sheet open={open} onOpenChange={setOpen} title="Filters">
        <DialogBody className="gap-3">{children}</DialogBody>
        {onClear ? (
          <DialogFooter>
            {given > 0 ? (
              <Button tone="quiet" onClick={onClear}>
                <X />
                Clear
              </Button>
            ) : null}
            <Button tone="primary" onClick={() => setOpen(false)}>
              Show results
            </Button>
          </DialogFooter>
        ) : null}
      </Dialog>
    </>
  );
}
