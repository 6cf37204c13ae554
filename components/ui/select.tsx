'use client';

import { Select as BaseSelect } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';
import { itemStyle, popupStyle } from '#components/ui/popup-style';

interface SelectProps<Value extends string> {
  /** Spoken name of the control, when no visible label names it. */
  label: string;
  value: Value;
  onChange(value: Value): void;
  options: readonly { value: Value; label: string }[];
  className?: string;
  name?: string;
  /** Below the options. */
  note?: string;
}

/** Chooses one of a few. */
export function Select<Value extends string>({
  label,
  value,
  onChange,
  options,
  className,
  name,
  note,
}: SelectProps<Value>) {
  return (
    <BaseSelect.Root
      items={options}
      value={value}
      onValueChange={(next) => {
        if (next !== null) onChange(next);
      }}
      {...(name ? { name } : {})}
    >
      <BaseSelect.Trigger
        aria-label={label}
        className={classNames(
          inputStyle,
          'flex items-center justify-between gap-2 text-left hover:bg-hover',
          className,
        )}
      >
        <BaseSelect.Value className="truncate" />
        <BaseSelect.Icon className="shrink-0 text-muted">
          <ChevronsUpDown className="size-3.5" />
        </BaseSelect.Icon>
      </BaseSelect.Trigger>
      <BaseSelect.Portal>
        <BaseSelect.Positioner sideOffset={6} alignItemWithTrigger={false} className="z-60 outline-none">
          <BaseSelect.Popup className={classNames(popupStyle, 'min-w-(--anchor-width)')}>
            <BaseSelect.List>
              {options.map((option) => (
                <BaseSelect.Item
                  key={option.value}
                  value={option.value}
                  className={classNames(itemStyle, 'pr-8')}
                >
                  <BaseSelect.ItemText className="truncate">{option.label}</BaseSelect.ItemText>
                  <BaseSelect.ItemIndicator className="absolute right-3">
                    <Check />
                  </BaseSelect.ItemIndicator>
                </BaseSelect.Item>
              ))}
            </BaseSelect.List>
            {note ? (
              <p className="max-w-60 border-t px-2 py-1.5 text-muted text-xs leading-4">{note}</p>
            ) : null}
          </BaseSelect.Popup>
        </BaseSelect.Positioner>
      </BaseSelect.Portal>
    </BaseSelect.Root>
  );
}
