'use client';

import { useId, useState } from 'react';
import { FieldFault } from '#components/form/field-fault';
import { Field, labelStyle } from '#components/ui/field';
import { ToggleGroup } from '#components/ui/toggle-group';

interface Expiry {
  readonly choice: 'never' | '30' | '90' | 'day';
  /** "2027-01-31", if a day is chosen. */
  readonly day: string;
}

const choices = [
  { value: 'never', label: 'Never' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: 'day', label: 'Date' },
] as const;

interface MomentFieldProps {
  label: string;
  /** The current day: "2027-01-31"; null for never. */
  day: string | null;
  /** null for never, a time, or a day, which ends in the workspace's time zone; "": no day chosen yet. */
  onChange(moment: string | null): void;
  error?: string | undefined;
}

/** A time in the future: never, in some days, or the end of a day. */
export function MomentField({ label, day, onChange, error }: MomentFieldProps) {
  const [expiry, setExpiry] = useState<Expiry>({
    choice: day === null ? 'never' : 'day',
    day: day ?? '',
  });
  const faultId = useId();
  const change = (next: Expiry) => {
    setExpiry(next);
    onChange(momentOf(next, Date.now()));
  };
  return (
    <fieldset className="grid gap-1.5">
      <legend className={`${labelStyle} mb-1.5`}>{label}</legend>
      <div className="flex flex-wrap items-start gap-2">
        <ToggleGroup
          label={label}
          value={expiry.choice}
          options={choices}
          onChange={(choice) => change({ ...expiry, choice })}
          faultId={error && expiry.choice !== 'day' ? faultId : undefined}
        />
        {expiry.choice === 'day' ? (
          <Field
            label={<span className="sr-only">Last day, in the workspace’s time zone</span>}
            name="lastDay"
            type="date"
            value={expiry.day}
            onValueChange={(day) => change({ ...expiry, day })}
            error={error}
            className="gap-0"
          />
        ) : null}
      </div>
      {error && expiry.choice !== 'day' ? <FieldFault id={faultId}>{error}</FieldFault> : null}
    </fieldset>
  );
}

function momentOf({ choice, day }: Expiry, nowMs: number): string | null {
  if (choice === 'never') return null;
  return choice === 'day' ? day : new Date(nowMs + Number(choice) * 86_400_000).toISOString();
}
