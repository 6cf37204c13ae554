'use client';

import { Checkbox as BaseCheckbox } from '@base-ui/react/checkbox';
import { Check } from 'lucide-react';
import { type ReactNode, useId } from 'react';

interface CheckboxProps {
  checked: boolean;
  onChange(checked: boolean): void;
  children: ReactNode;
}

export function Checkbox({ checked, onChange, children }: CheckboxProps) {
  const id = useId();
  return (
    <div className="flex min-w-0 items-center gap-2.5 rounded-md px-2 hover:bg-hover">
      <BaseCheckbox.Root
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        className="grid size-4 shrink-0 place-items-center rounded-[0.25rem] border border-line-strong bg-surface text-on-accent data-[checked]:border-accent data-[checked]:bg-accent"
      >
        <BaseCheckbox.Indicator>
          <Check className="size-3" strokeWidth={3} />
        </BaseCheckbox.Indicator>
      </BaseCheckbox.Root>
      <label htmlFor={id} className="min-w-0 flex-1 cursor-pointer py-1.5 text-sm">
        {children}
      </label>
    </div>
  );
}
