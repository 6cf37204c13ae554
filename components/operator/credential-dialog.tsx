'use client';

import { useRouter } from 'next/navigation';
import type { Answer } from '#components/form/answer';
import { OperationForm, type Values } from '#components/form/operation-form';
import { Dialog } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';
import type { FormField } from '#lib/console/form';
import type { ProviderRow } from '#lib/console/gateway/provider';

interface CredentialDialogProps {
  provider: Pick<ProviderRow, 'name'>;
  fields: readonly FormField[];
  open: boolean;
  onOpenChange(open: boolean): void;
  send(values: Values): Promise<Answer<unknown>>;
}

/** Takes the credential of a provider; it is never shown again. */
export function CredentialDialog({ provider, fields, open, onOpenChange, send }: CredentialDialogProps) {
  const router = useRouter();
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Credential of ${provider.name}`}
      description="In force at once on this machine, and within 2 seconds everywhere. It takes the place of the one before."
    >
      <OperationForm
        fields={fields}
        models={[]}
        send={send}
        verb={{ idle: 'Save credential', pending: 'Saving…' }}
        onCancel={() => onOpenChange(false)}
        onDone={() => {
          onOpenChange(false);
          toast.success(`The credential of ${provider.name} is in force`);
          router.refresh();
        }}
      />
    </Dialog>
  );
}
