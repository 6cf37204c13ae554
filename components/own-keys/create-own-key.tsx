'use client';

import { Plus } from 'lucide-react';
import { Suspense, useState } from 'react';
import type { NewOwnKeyFacts } from '#components/own-keys/popups/new-own-key';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';

const NewOwnKey = later(() => import('#components/own-keys/popups/new-own-key').then((all) => all.NewOwnKey));

interface CreateOwnKeyProps extends NewOwnKeyFacts {
  /** Why none can be added; null: one can. */
  locked: string | null;
}

/** Opens the form of a new own key, which is loaded on the first click. */
export function CreateOwnKey(props: CreateOwnKeyProps) {
  const { locked } = props;
  const [open, setOpen] = useState(false);
  const [wanted, want] = useState(false);
  function start() {
    want(true);
    setOpen(true);
  }
  return (
    <>
      <Button tone="primary" disabled={locked !== null} title={locked ?? undefined} onClick={start}>
        <Plus />
        Add own key
      </Button>
      {wanted ? (
        <Suspense fallback={null}>
          <NewOwnKey {...props} open={open} onOpenChange={setOpen} />
        </Suspense>
      ) : null}
    </>
  );
}
