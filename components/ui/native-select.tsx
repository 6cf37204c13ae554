import { ChevronsUpDown } from 'lucide-react';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';

interface Option {
  readonly value: string;
  readonly label: string;
  readonly group?: string;
}

interface NativeSelectProps {
  /** Accessible name of the control. */
  label: string;
  value: string;
  /** Options with a group are under its heading, after the others. */
  options: readonly Option[];
  className?: string;
  /** More about the options, on hover. */
  note?: string;
  /** Id of the text that says what is wrong with the choice. */
  faultId?: string | undefined;
  onChange(value: string): void;
}

/** A native select with a few options, for pages with many of them that must load little script. */
export function NativeSelect({
  label,
  value,
  options,
  className,
  note,
  faultId,
  onChange,
}: NativeSelectProps) {
  const groups = [...new Set(options.flatMap(({ group }) => group ?? []))];
  return (
    <span className={classNames('relative inline-grid min-w-0 self-start', className)}>
      <select
        aria-label={label}
        title={note}
        aria-invalid={faultId === undefined ? undefined : true}
        aria-describedby={faultId}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        className={classNames(inputStyle, 'cursor-pointer appearance-none truncate pr-8 hover:bg-hover')}
      >
        {options.filter(({ group }) => group === undefined).map(optionOf)}
        {groups.map((name) => (
          <optgroup key={name} label={name}>
            {options.filter(({ group }) => group === name).map(optionOf)}
          </optgroup>
        ))}
      </select>
      <SelectMark />
    </span>
  );
}

function optionOf({ value, label }: Option) {
  return (
    <option key={value} value={value}>
      {label}
    </option>
  );
}

/** The mark of a select that has the look of the other controls, at its right edge. */
export function SelectMark() {
  return (
    <ChevronsUpDown
      aria-hidden
      className="pointer-events-none absolute top-1/2 right-3 size-3.5 -translate-y-1/2 text-muted"
    />
  );
}
