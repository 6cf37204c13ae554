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

/** Takes the credential of a provider, which is never shown again, or removes it. */
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
      {provider.credential.given ? (
        <div className="flex flex-wrap items-center justify-between gap-3 border-t px-5 py-3.5 sm:px-6">
          <p className="text-[0.8125rem] text-muted leading-5">Without one, no call is sent to it.</p>
          <SureButton
            label="Remove credential"
            question={`Stop all calls to ${provider.name}?`}
            danger
            input={{ remove: true }}
            done={`${provider.name} has no credential`}
            act={remove}
          />
        </div>
      ) : null}
    </Dialog>
  );
}
