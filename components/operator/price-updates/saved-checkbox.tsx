'use client';

import { useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Checkbox } from '#components/ui/checkbox';
import { toast } from '#components/ui/toaster';

interface SavedCheckboxProps {
  label: string;
  checked: boolean;
  /** The field that it sets, and what is sent with it. */
  field: string;
  besides?: Readonly<Record<string, string>>;
  send(input: Readonly<Record<string, unknown>>): Promise<FormAnswer<unknown>>;
}

/** A setting that is saved as soon as it is clicked; if that fails, it is as before. */
export function SavedCheckbox({ label, checked, field, besides = {}, send }: SavedCheckboxProps) {
  const [on, turn] = useState(checked);
  const [, startTransition] = useTransition();
  return (
    <Checkbox
      checked={on}
      onChange={(next) => {
        turn(next);
        startTransition(async () => {
          const answer = await orNoAnswer(send({ ...besides, [field]: next }));
          if (answer.ok) toast.success('Saved');
          else {
            turn(!next);
            toast.error(answer.message);
          }
        });
      }}
    >
      {label}
    </Checkbox>
  );
}
