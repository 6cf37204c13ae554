'use client';

import { Field, labelStyle } from '#components/ui/field';
import { ToggleGroup } from '#components/ui/toggle-group';

export interface Expiry {
  readonly choice: 'never' | '30' | '90' | 'day';
  /** "2027-01-31", when a day is chosen. */
  readonly day: string;
}

const choices = [
  { value: 'never', label: 'Never' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: 'day', label: 'Date' },
] as const;

/**
 * The expiry as the page's action takes it: null for never, a moment, or a day, which ends in the
 * workspace's zone.
 */
export function expiryMoment({ choice, day }: Expiry, nowMs: number): string | null {
  if (choice === 'never') return null;
  return choice === 'day' ? day : new Date(nowMs + Number(choice) * 86_400_000).toISOString();
}

interface ExpiryFieldProps {
  expiry: Expiry;
  onChange(expiry: Expiry): void;
  error?: string | undefined;
}

export function ExpiryField({ expiry, onChange, error }: ExpiryFieldProps) {
  return (
    <fieldset className="grid gap-1.5">
      <legend className={`${labelStyle} mb-1.5`}>Expires</legend>
      <div className="flex flex-wrap items-start gap-2">
        <ToggleGroup
          label="Expires"
          value={expiry.choice}
          options={choices}
          onChange={(choice) => onChange({ ...expiry, choice })}
        />
        {expiry.choice === 'day' ? (
          <Field
            label={<span className="sr-only">Last day, in the workspace’s zone</span>}
            name="lastDay"
            type="date"
            value={expiry.day}
            onValueChange={(day) => onChange({ ...expiry, day })}
            error={error}
            className="gap-0"
          />
        ) : null}
      </div>
    </fieldset>
  );
}
