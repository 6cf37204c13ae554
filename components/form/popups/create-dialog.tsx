'use client';

import { useRouter } from 'next/navigation';
import { type ReactNode, type RefObject, useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { OperationForm, type Values } from '#components/form/operation-form';
import { ShownOnce, type ShownSecret } from '#components/keys/popups/secret-dialog';
import { Dialog } from '#components/ui/dialog';
import type { FormField } from '#lib/console/form';

export interface CreateDialogProps {
  title: string;
  description: ReactNode;
  fields: readonly FormField[];
  initial?: Values;
  verb: { readonly idle: string; readonly pending: string };
  create(input: Values): Promise<FormAnswer<{ key: string }>>;
  /** What to show with the secret; it is shown only once. */
  shown(secret: string, sent: Values): ShownSecret;
  open: boolean;
  onOpenChange(open: boolean): void;
  /** Gets the focus back. */
  button: RefObject<HTMLButtonElement | null>;
}

/** A form that returns a secret, and the secret: loaded together, so that showing it loads nothing. */
export function CreateDialog(props: CreateDialogProps) {
  const { fields, initial = {}, verb, create, shown, open, onOpenChange, button } = props;
  const router = useRouter();
  const [made, setMade] = useState<ShownSecret | null>(null);
  return (
    <>
      <Dialog
        open={open}
        onOpenChange={onOpenChange}
        finalFocus={made ? false : button}
        title={props.title}
        description={props.description}
      >
        <OperationForm
          fields={fields}
          models={[]}
          initial={initial}
          send={(input) => create({ ...initial, ...input })}
          verb={verb}
          onCancel={() => onOpenChange(false)}
          onDone={({ key }, sent) => {
            onOpenChange(false);
            setMade(shown(key, sent));
            router.refresh();
          }}
        />
      </Dialog>
      {made ? <ShownOnce {...made} finalFocus={button} onClose={() => setMade(null)} /> : null}
    </>
  );
}
