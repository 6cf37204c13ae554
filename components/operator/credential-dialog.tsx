'use client';

import { useRouter } from 'next/navigation';
import { SureButton } from '#components/fleet/sure-button';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm, type Values } from '#components/form/operation-form';
import { Dialog } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';
import type { FormField } from '#lib/console/form';
import type { CredentialRow, ProviderRow } from '#lib/console/gateway/provider';

interface CredentialDialogProps {
  provider: Pick<ProviderRow, 'name' | 'models' | 'credentials'>;
  /** null: a new one. */
  credential: CredentialRow | null;
  fields: readonly FormField[];
  open: boolean;
  onOpenChange(open: boolean): void;
  send(values: Values): Promise<FormAnswer<unknown>>;
}

/** Takes a credential of a provider, which is never shown again, and its share; withdraws or removes it. */
export function CredentialDialog(props: CredentialDialogProps) {
  const { provider, credential, fields, open, onOpenChange, send } = props;
  const router = useRouter();
  const title = credential
    ? `Credential ${credential.name} of ${provider.name}`
    : `Add a credential for ${provider.name}`;
  async function act(_workspace: string, input: Values) {
    const answer = await send(input);
    if (answer.ok) onOpenChange(false);
    return answer;
  }
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      description="Changes apply within 2 seconds."
    >
      <OperationForm
        fields={credential ? fields.filter(({ name }) => name !== 'name') : fields}
        models={provider.models}
        {...(credential?.given ? { initial: credential.initial } : {})}
        send={send}
        verb={{ idle: 'Save credential', pending: 'Saving…' }}
        onCancel={() => onOpenChange(false)}
        onDone={() => {
          onOpenChange(false);
          toast.success(`Credential for ${provider.name} saved. Test it with one call.`);
          router.refresh();
        }}
      />
      {credential?.given ? <Ending {...props} credential={credential} act={act} /> : null}
    </Dialog>
  );
}

interface EndingProps extends Pick<CredentialDialogProps, 'provider'> {
  credential: CredentialRow;
  act(workspace: string, input: Values): Promise<FormAnswer<unknown>>;
}

/** How a credential is taken out of use: for new calls, or for good. */
function Ending({ provider, credential: { name, withdrawn }, act }: EndingProps) {
  const isLast = provider.credentials.every((one) => one.name === name || one.withdrawn || !one.given);
  const stops = isLast && !withdrawn ? `Stop all calls to ${provider.name}?` : null;
  return (
    <div className="grid gap-3 border-t px-5 py-3.5 sm:px-6">
      <p className="text-[0.8125rem] text-muted leading-5">
        A withdrawn credential gets no new calls; jobs, files and stored responses that it made are still
        reached with it. Remove it when they are no longer needed.
      </p>
      <div className="flex flex-wrap gap-2">
        {withdrawn ? (
          <SureButton
            label="Use again"
            question={null}
            input={{ withdrawn: false }}
            done={`Credential ${name} gets calls again`}
            act={act}
          />
        ) : (
          <SureButton
            label="Withdraw"
            question={stops}
            input={{ withdrawn: true }}
            done={`Credential ${name} withdrawn`}
            act={act}
          />
        )}
        <SureButton
          label="Remove credential"
          question={stops ?? `Remove ${name} for good?`}
          danger
          input={{ remove: true }}
          done={`Credential ${name} removed`}
          act={act}
        />
      </div>
    </div>
  );
}
