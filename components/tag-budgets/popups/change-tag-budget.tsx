'use client';

import { useRouter } from 'next/navigation';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm, type Values } from '#components/form/operation-form';
import { Dialog } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';
import type { FormField } from '#lib/console/form';
import type { TagBudgetRow } from '#lib/console/show/tag-budget-rows';

interface ChangeTagBudgetProps {
  row: TagBudgetRow;
  fields: readonly FormField[];
  onClose(): void;
  set(input: Values): Promise<FormAnswer<unknown>>;
}

/** Edits the amounts and limits of a budget. */
export function ChangeTagBudget({ row, fields, onClose, set }: ChangeTagBudgetProps) {
  const router = useRouter();
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title={`Edit budget of ${row.title}`}
      description="Applies within 2 seconds, and counts what was spent before."
    >
      <OperationForm
        fields={fields}
        models={[]}
        initial={row.settings}
        send={(input) => set({ ...input, id: row.id })}
        verb={{ idle: 'Save changes', pending: 'Saving…' }}
        onCancel={onClose}
        onDone={() => {
          onClose();
          toast.success('Budget saved');
          router.refresh();
        }}
      />
    </Dialog>
  );
}
