'use client';

import { Plus } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryState } from 'nuqs';
import { createContext, type ReactNode, type RefObject, useContext, useMemo, useRef, useState } from 'react';
import { OperationForm } from '#components/form/operation-form';
import { useKeyPage } from '#components/keys/key-actions';
import { SecretDialog } from '#components/keys/secret-dialog';
import { Button } from '#components/ui/button';
import { Dialog } from '#components/ui/dialog';
import { Tooltip } from '#components/ui/tooltip';

interface Creation {
  start(): void;
  /** The button that is on the page, which gets the focus back. */
  readonly button: RefObject<HTMLButtonElement | null>;
}

const CreationContext = createContext<Creation | null>(null);

/**
 * Holds the form and the secret that it leads to around the whole page: the button moves when the first
 * key turns the empty page into a list, and a secret that moved with it would be lost.
 */
export function KeyCreation({ children }: { children: ReactNode }) {
  const router = useRouter();
  const { actions, workspace, fields, models, facts, locked } = useKeyPage();
  const [asked, ask] = useQueryState('new');
  const open = asked === 'key' && locked === null;
  const [created, setCreated] = useState<{ name: string; secret: string; model: string } | null>(null);
  const button = useRef<HTMLButtonElement>(null);
  const creation = useMemo(() => ({ start: () => void ask('key'), button }), [ask]);
  return (
    <CreationContext value={creation}>
      {children}
      <Dialog
        open={open}
        onOpenChange={(next) => void ask(next ? 'key' : null)}
        finalFocus={button}
        title="Create an API key"
        description="It works on this gateway at once, on every other machine within 2 seconds."
      >
        <OperationForm
          fields={fields}
          models={models}
          send={(input) => actions.create(workspace, input)}
          verb={{ idle: 'Create key', pending: 'Creating…' }}
          onCancel={() => void ask(null)}
          onDone={({ key }, input) => {
            void ask(null);
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

export function CreateKeyButton() {
  const { locked } = useKeyPage();
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
