import { ChevronsUpDown } from 'lucide-react';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';

interface NativeSelectProps {
  /** Spoken name of the control. */
  label: string;
  value: string;
  options: readonly { readonly value: string; readonly label: string }[];
  className?: string;
  /** More about the options, on hover. */
  note?: string;
  onChange(value: string): void;
}

/** Chooses one of a few by the browser's own list: where many of them stand on a page, and its script must stay small. */
export function NativeSelect({ label, value, options, className, note, onChange }: NativeSelectProps) {
  return (
    <span className={classNames('relative inline-grid min-w-0', className)}>
      <select
        aria-label={label}
        title={note}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        className={classNames(inputStyle, 'cursor-pointer appearance-none truncate pr-8 hover:bg-hover')}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <ChevronsUpDown
        aria-hidden
        className="pointer-events-none absolute top-1/2 right-3 size-3.5 -translate-y-1/2 text-muted"
      />
    </span>
  );
}
