'use client';

import { Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { createContext, type ReactNode, type RefObject, useContext, useMemo, useRef, useState } from 'react';
import { OperationForm } from '#components/form/operation-form';
import { useKeyActions } from '#components/keys/key-actions';
import { SecretDialog } from '#components/keys/secret-dialog';
import type { SnippetFacts } from '#components/keys/snippets';
import { Button } from '#components/ui/button';
import { Dialog } from '#components/ui/dialog';
import { Tooltip } from '#components/ui/tooltip';
import type { FormField } from '#lib/console/form';

interface Creation {
  start(): void;
  /** The button that is on the page, which gets the focus back. */
  readonly button: RefObject<HTMLButtonElement | null>;
}

const CreationContext = createContext<Creation | null>(null);

interface KeyCreationProps {
  workspace: string;
  fields: readonly FormField[];
  models: readonly string[];
  facts: SnippetFacts;
  children: ReactNode;
}

/**
 * Holds the form and the secret that it leads to around the whole page: the button moves when the first
 * key turns the empty page into a list, and a secret that moved with it would be lost.
 */
export function KeyCreation({ workspace, fields, models, facts, children }: KeyCreationProps) {
  const router = useRouter();
  const actions = useKeyActions();
  const [open, setOpen] = useState(false);
  const [created, setCreated] = useState<{ name: string; secret: string; model: string } | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const creation = useMemo(() => ({ start: () => setOpen(true), button }), []);
  return (
    <CreationContext value={creation}>
      {children}
      <Dialog
        open={open}
        onOpenChange={setOpen}
        finalFocus={button}
        title="Create an API key"
        description="It works on this gateway at once, on every other machine within 2 seconds."
      >
        <OperationForm
          fields={fields}
          models={models}
          send={(input) => actions.create(workspace, input)}
          verb={{ idle: 'Create key', pending: 'Creating…' }}
          onCancel={() => setOpen(false)}
          onDone={({ key }, input) => {
            setOpen(false);
            const [model = ''] = Array.isArray(input.models) ? input.models : [];
            setCreated({ name: String(input.name), secret: key, model });
            router.refresh();
          }}
        />
      </Dialog>
      {created ? (
        <SecretDialog
          name={created.name}
          secret={created.secret}
          facts={{ ...facts, model: created.model || facts.model }}
          finalFocus={button}
          onClose={() => setCreated(null)}
        />
      ) : null}
    </CreationContext>
  );
}

/** @param locked why this member may not create keys; null when they may. */
export function CreateKeyButton({ locked }: { locked: string | null }) {
  const creation = useContext(CreationContext);
  if (!creation) throw new Error('a key is created inside KeyCreation');
  if (locked) {
    return (
      <Tooltip content={locked}>
        <Button tone="primary" aria-disabled aria-description={locked}>
          <Plus />
          Create key
        </Button>
      </Tooltip>
    );
  }
  return (
    <Button tone="primary" ref={creation.button} onClick={creation.start}>
      <Plus />
      Create key
    </Button>
  );
}
