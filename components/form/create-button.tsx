'use client';

import { Plus } from 'lucide-react';
import { Suspense, useRef, useState } from 'react';
import type { CreateDialogProps } from '#components/form/popups/create-dialog';
import { Button, type ButtonProps } from '#components/ui/button';
import { later } from '#components/ui/on-demand';

const CreateDialog = later(() =>
  import('#components/form/popups/create-dialog').then((all) => all.CreateDialog),
);

interface CreateButtonProps extends Omit<CreateDialogProps, 'open' | 'onOpenChange' | 'button'> {
  label: string;
  tone?: ButtonProps['tone'];
  /** Why nothing can be created; null: it can. */
  locked?: string | null;
}

/**
 * Opens a form whose answer is a secret; both are loaded with the first press. It stays on the page above the list,
 * so that a list that turns up beside it takes no secret away.
 */
export function CreateButton({ label, tone, locked = null, ...dialog }: CreateButtonProps) {
  const [open, setOpen] = useState(false);
  const [wanted, want] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  function start() {
    want(true);
    setOpen(true);
  }
  return (
    <>
      <Button tone={tone} ref={button} disabled={locked !== null} title={locked ?? undefined} onClick={start}>
        <Plus />
        {label}
      </Button>
      {wanted ? (
        <Suspense fallback={null}>
          <CreateDialog {...dialog} open={open} onOpenChange={setOpen} button={button} />
        </Suspense>
      ) : null}
    </>
  );
}
