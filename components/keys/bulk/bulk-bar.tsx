'use client';

import { X } from 'lucide-react';
import { Suspense, useState } from 'react';
import type { BulkVerb } from '#components/keys/bulk/bulk-dialog';
import { useKeySelection } from '#components/keys/bulk/selection';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';

const BulkDialog = later(() => import('#components/keys/bulk/bulk-dialog').then((all) => all.BulkDialog));

const buttons: Readonly<Record<BulkVerb, string>> = {
  enable: 'Enable',
  disable: 'Disable',
  cap: 'Set a cap…',
  revoke: 'Revoke…',
};
const verbs = ['enable', 'disable', 'cap', 'revoke'] as const;

/** What can be done with all selected keys at once. */
export function BulkBar() {
  const selection = useKeySelection();
  const [verb, ask] = useState<BulkVerb | null>(null);
  const [open, setOpen] = useState(false);
  if (!selection || selection.selected.size === 0) return null;
  const { all, selected, select } = selection;
  return (
    <>
      <div
        role="toolbar"
        aria-label="Change selected keys"
        className="flex flex-wrap items-center gap-2 rounded-lg border border-accent/40 bg-accent-soft px-3 py-2"
      >
        <span role="status" className="mr-1 font-medium text-accent-ink">
          {selected.size === 1 ? '1 key' : `${selected.size} keys`} selected
        </span>
        {verbs.map((one) => (
          <Button
            key={one}
            size="small"
            onClick={() => {
              ask(one);
              setOpen(true);
            }}
          >
            {buttons[one]}
          </Button>
        ))}
        <Button size="small" tone="quiet" onClick={() => select([])}>
          <X />
          Clear selection
        </Button>
      </div>
      {verb ? (
        <Suspense fallback={null}>
          <BulkDialog
            key={verb}
            verb={verb}
            keys={all.filter(({ id }) => selected.has(id))}
            open={open}
            onOpenChange={setOpen}
          />
        </Suspense>
      ) : null}
    </>
  );
}
