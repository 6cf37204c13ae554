'use client';

import { useRouter } from 'next/navigation';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm, type Values } from '#components/form/operation-form';
import { tellTest } from '#components/own-keys/tell-test';
import { Dialog } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';
import type { FormField } from '#lib/console/form';
import type { OwnKeyRow } from '#lib/console/team/own-key-rows';

interface ChangeOwnKeyProps {
  row: OwnKeyRow;
  change: 'edit' | 'replace';
  fields: readonly FormField[];
  onClose(): void;
  set(input: Values): Promise<FormAnswer<{ failure: string | null }>>;
}

/** Edits how an own key is used, or takes another key in its place. */
export function ChangeOwnKey({ row, change, fields, onClose, set }: ChangeOwnKeyProps) {
  const { name, use, models, offered } = row;
  const router = useRouter();
  const replaces = change === 'replace';
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={replaces ? `Replace the key of ${name}` : `Edit ${name}`}
      description={
        replaces
          ? 'The new key must belong to the same account, so that its jobs and stored responses stay reachable. It comes into force once its test call has passed.'
          : 'Changes apply within 2 seconds.'
      }
    >
      <OperationForm
        fields={fields}
        models={[...new Set([...offered, ...(models ?? [])])].sort()}
        {...(replaces ? {} : { initial: { use, models } })}
        send={(input) => set({ ...input, id: row.id })}
        verb={
          replaces
            ? { idle: 'Test and replace', pending: 'Testing…' }
            : { idle: 'Save changes', pending: 'Saving…' }
        }
        onCancel={onClose}
        onDone={({ failure }) => {
          onClose();
          if (replaces)
            tellTest(failure, { passed: `${name} replaced`, failed: `The new key of ${name} is not used` });
          else toast.success(`${name} saved`);
          router.refresh();
        }}
      />
    </Dialog>
  );
}
