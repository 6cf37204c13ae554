'use client';

import { useRouter } from 'next/navigation';
import { type RefObject, useState } from 'react';
import { OperationForm } from '#components/form/operation-form';
import { useKeyPage } from '#components/keys/key-actions';
import { SecretDialog } from '#components/keys/popups/secret-dialog';
import { Dialog } from '#components/ui/dialog';

interface CreateDialogProps {
  open: boolean;
  onOpenChange(open: boolean): void;
  /** Gets the focus back. */
  button: RefObject<HTMLButtonElement | null>;
}

/** The form for a new key, then its secret. */
export function CreateDialog({ open, onOpenChange, button }: CreateDialogProps) {
  const router = useRouter();
  const { actions, workspace, fields, models, facts } = useKeyPage();
  const [created, setCreated] = useState<{ name: string; secret: string; model: string } | null>(null);
  return (
    <>
      <Dialog
        open={open}
        onOpenChange={onOpenChange}
        finalFocus={created ? false : button}
        title="Create an API key"
        description="The key works within 2 seconds."
      >
        <OperationForm
          fields={fields}
          models={models}
          send={(input) => actions.create(workspace, input)}
          verb={{ idle: 'Create key', pending: 'Creating…' }}
          onCancel={() => onOpenChange(false)}
          onDone={({ key }, input) => {
            const [model = ''] = Array.isArray(input.models) ? input.models : [];
            onOpenChange(false);
            setCreated({ name: String(input.name), secret: key, model });
            router.refresh();
          }}
        />
      </Dialog>
      {created ? (
        <SecretDialog
          name={created.name}
          secret={created.secret}
          facts={facts}
          model={created.model || facts.model}
          finalFocus={button}
          onClose={() => setCreated(null)}
        />
      ) : null}
    </>
  );
}
