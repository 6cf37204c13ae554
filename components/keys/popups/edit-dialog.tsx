'use client';

import { useRouter } from 'next/navigation';
import { OperationForm } from '#components/form/operation-form';
import { useKeyPage } from '#components/keys/key-actions';
import type { KeyRow } from '#components/keys/key-row';
import { Dialog } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';

interface EditDialogProps {
  row: KeyRow;
  open: boolean;
  onOpenChange(open: boolean): void;
}

/** Edits all settings of a key; changes apply from the next call on. */
export function EditDialog({ row, open, onOpenChange }: EditDialogProps) {
  const { actions, workspace, fields, models } = useKeyPage();
  const router = useRouter();
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={`Edit ${row.name}`}
      description="Changes apply within 2 seconds. New limits also count calls that were made before the change."
    >
      <OperationForm
        fields={fields}
        models={models}
        initial={row.settings}
        send={(input) => actions.set(workspace, { ...input, id: row.id })}
        verb={{ idle: 'Save changes', pending: 'Saving…' }}
        onCancel={() => onOpenChange(false)}
        onDone={(_, sent) => {
          onOpenChange(false);
          toast.success(`${String(sent.name)} saved`);
          router.refresh();
        }}
      />
    </Dialog>
  );
}
