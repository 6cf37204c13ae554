'use client';

import type { KeyboardEvent } from 'react';

interface ToggleGroupProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange(value: Value): void;
  /** Id of the text that says what is wrong with the choice. */
  faultId?: string | undefined;
}

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** A few options side by side, exactly one of them selected; the arrow keys move between them. */
export function ToggleGroup<Value extends string>({
  label,
  value,
  options,
  onChange,
  faultId,
}: ToggleGroupProps<Value>) {
  const chosen = Math.max(
    0,
    options.findIndex((option) => option.value === value),
  );

  function move(event: KeyboardEvent<HTMLFieldSetElement>) {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const buttons = [...event.currentTarget.querySelectorAll('button')];
    const at = buttons.findIndex((button) => button.matches(':focus'));
    buttons.at((at + step) % buttons.length)?.focus();
  }

  return (
    <fieldset
      aria-label={label}
      onKeyDown={move}
      className="inline-flex h-9 w-fit min-w-0 items-center rounded-md border border-line-strong/60 bg-sunken p-0.5"
    >
      {options.map((option, at) => (
        <button
          key={option.value}
          type="button"
          tabIndex={at === chosen ? 0 : -1}
          aria-pressed={option.value === value}
          data-fault={faultId !== undefined && at === chosen ? true : undefined}
          aria-describedby={at === chosen ? faultId : undefined}
          onClick={() => {
            if (option.value !== value) onChange(option.value);
          }}
          className="h-full rounded-[0.3rem] px-2.5 text-[0.8125rem] text-muted hover:text-ink aria-pressed:bg-surface aria-pressed:font-medium aria-pressed:text-ink aria-pressed:shadow-xs"
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  );
}
