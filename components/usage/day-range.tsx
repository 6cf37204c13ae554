'use client';

import { Input } from '#components/ui/input';

interface DayRangeProps {
  /** "2026-11-01"; both days are included. */
  first: string;
  last: string;
  onChange(first: string, last: string): void;
}

/** A custom range of days. It is applied on blur, so that a date can be typed. */
export function DayRange({ first, last, onChange }: DayRangeProps) {
  const box = (label: string, value: string, change: (day: string) => void) => (
    <Input
      aria-label={label}
      title={label}
      type="date"
      className="sm:w-40"
      defaultValue={value}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
      }}
      onBlur={(event) => {
        const written = event.currentTarget.value;
        if (written !== '' && written !== value) change(written);
      }}
    />
  );
  return (
    <fieldset className="contents">
      <legend className="sr-only">Days</legend>
      {box('First day', first, (day) => onChange(day, day > last ? day : last))}
      {box('Last day', last, (day) => onChange(day < first ? day : first, day))}
    </fieldset>
  );
}
