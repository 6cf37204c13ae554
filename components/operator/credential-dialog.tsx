'use client';

import { useRouter } from 'next/navigation';
import { SureButton } from '#components/fleet/sure-button';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm, type Values } from '#components/form/operation-form';
import { Dialog } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';
import type { FormField } from '#lib/console/form';
import type { ProviderRow } from '#lib/console/gateway/provider';

interface CredentialDialogProps {
  provider: Pick<ProviderRow, 'name' | 'credential'>;
  fields: readonly FormField[];
  open: boolean;
  onOpenChange(open: boolean): void;
  send(values: Values): Promise<FormAnswer<unknown>>;
}

/** Sets the credential of a provider, which is never shown again, or removes it. */
export function CredentialDialog({ provider, fields, open, onOpenChange, send }: CredentialDialogProps) {
  const router = useRouter();
  async function remove(_workspace: string, input: Values) {
    const answer = await send(input);
    if (answer.ok) onOpenChange(false);
    return answer;
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Credential for ${provider.name}`}
      description="Applies immediately on this machine and within 2 seconds everywhere. It replaces the current credential."
    >
      <OperationForm
        fields={fields}
        models={[]}
        send={send}
        verb={{ idle: 'Save credential', pending: 'Saving…' }}
        onCancel={() => onOpenChange(false)}
        onDone={() => {
          onOpenChange(false);
          toast.success(`Credential for ${provider.name} saved`);
          router.refresh();
        }}
      />
      {provider.credential.given ? (
        <div className="flex flex-wrap items-center justify-between gap-3 border-t px-5 py-3.5 sm:px-6">
          <p className="text-[0.8125rem] text-muted leading-5">
            A provider without a credential gets no calls.
          </p>
          <SureButton
            label="Remove credential"
            question={`Stop all calls to ${provider.name}?`}
            danger
            input={{ remove: true }}
            done={`Credential for ${provider.name} removed`}
            act={remove}
          />
        </div>
      ) : null}
    </Dialog>
  );
}
