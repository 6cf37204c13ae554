'use client';

import { Check } from 'lucide-react';
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react';

interface CheckboxProps {
  /** Name in the form data. */
  name?: string;
  checked: boolean;
  onChange(checked: boolean): void;
  /** Id of the text that says what is wrong with it. */
  faultId?: string | undefined;
  children: ReactNode;
}

/** A native checkbox with our styling, for pages that must load little script. */
export function Checkbox({ name, checked, onChange, faultId, children }: CheckboxProps) {
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  const first = useRef({ checked, onChange });
  // Reports a click from before hydration, which React does not.
  useLayoutEffect(() => {
    const { checked: given, onChange: tell } = first.current;
    if (box.current && box.current.checked !== given) tell(box.current.checked);
  }, []);
  return (
    <div className="flex min-w-0 items-center gap-2.5 rounded-md px-2 hover:bg-hover">
      <span className="relative grid size-4 shrink-0 place-items-center">
        <input
          id={id}
          ref={box}
          name={name}
          autoComplete="off"
          type="checkbox"
          aria-invalid={faultId === undefined ? undefined : true}
          aria-describedby={faultId}
          checked={checked}
          onChange={(event) => onChange(event.currentTarget.checked)}
          className="peer size-4 cursor-pointer appearance-none rounded-[0.25rem] border border-line-strong bg-surface checked:border-accent checked:bg-accent"
        />
        <Check
          aria-hidden
          className="pointer-events-none absolute hidden size-3 text-on-accent peer-checked:block"
          strokeWidth={3}
        />
      </span>
      <label htmlFor={id} className="min-w-0 flex-1 cursor-pointer py-1.5 text-sm">
        {children}
      </label>
    </div>
  );
}
