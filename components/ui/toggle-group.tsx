'use client';

import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup as BaseToggleGroup } from '@base-ui/react/toggle-group';

interface ToggleGroupProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; label: string }[];
  onChange(value: Value): void;
}

/** A few choices side by side, exactly one of them on. */
export function ToggleGroup<Value extends string>({
  label,
  value,
  options,
  onChange,
}: ToggleGroupProps<Value>) {
  return (
    <BaseToggleGroup
      aria-label={label}
      value={[value]}
      onValueChange={(next) => {
        const chosen = options.find((option) => next.includes(option.value) && option.value !== value);
        if (chosen) onChange(chosen.value);
      }}
      className="inline-flex h-9 items-center rounded-md border border-line-strong/60 bg-sunken p-0.5"
    >
      {options.map((option) => (
        <Toggle
          key={option.value}
          value={option.value}
          className="h-full rounded-[0.3rem] px-2.5 text-[0.8125rem] text-muted hover:text-ink data-[pressed]:bg-surface data-[pressed]:font-medium data-[pressed]:text-ink data-[pressed]:shadow-xs"
        >
          {option.label}
        </Toggle>
      ))}
    </BaseToggleGroup>
  );
}
