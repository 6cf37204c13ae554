'use client';

import { Plus } from 'lucide-react';
import { Suspense, useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import type { FormField } from '#lib/console/form';
import type { OwnKeyProvider } from '#lib/console/team/own-key-rows';

const NewOwnKey = later(() => import('#components/own-keys/popups/new-own-key').then((all) => all.NewOwnKey));

export interface CreateOwnKeyProps {
  workspace: string;
  /** Those that a key can be for. */
  providers: readonly OwnKeyProvider[];
  /** Of the operation, without the provider. */
  fields: readonly FormField[];
  /** Why none can be added; null: one can. */
  locked: string | null;
  create(workspace: string, input: unknown): Promise<FormAnswer<{ failure: string | null }>>;
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
