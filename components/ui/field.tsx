'use client';

import { Field as BaseField } from '@base-ui/react/field';
import type { ReactNode } from 'react';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';

export const labelStyle = 'font-medium text-[0.8125rem] text-ink leading-5';
const hintStyle = 'text-[0.8125rem] text-muted leading-5';

interface FieldProps extends Omit<BaseField.Control.Props, 'className' | 'render' | 'size'> {
  label: ReactNode;
  name: string;
  hint?: ReactNode;
  /** Shown instead of the hint and announced; the input is marked invalid. */
  error?: ReactNode;
  /** Shown inside the input on the left, such as a currency sign. */
  prefix?: string;
  /** Shown inside the input on the right, such as a button or a unit. */
  suffix?: ReactNode;
  /** Height of a text of several lines; absent: it has one. */
  rows?: number;
  className?: string;
}

/** One labeled text input with a hint or an error, accessible to screen readers. */
export function Field(props: FieldProps) {
  const { label, hint, error, prefix, suffix, rows, className, name, ...control } = props;
  return (
    <BaseField.Root
      name={name}
      invalid={Boolean(error)}
      className={classNames('grid content-start gap-1.5', className)}
    >
      <BaseField.Label className={labelStyle}>{label}</BaseField.Label>
      <div className="relative">
        {prefix ? (
          <span aria-hidden className="absolute inset-y-0 left-3 grid place-items-center text-muted text-sm">
            {prefix}
          </span>
        ) : null}
        <BaseField.Control
          className={classNames(
            inputStyle,
            prefix && 'pl-6.5',
            suffix && 'pr-12',
            rows && 'h-auto py-1.5 leading-6',
          )}
          {...(rows && { render: <textarea rows={rows} /> })}
          {...control}
        />
        {suffix ? (
          <span className="absolute inset-y-0 right-1.5 grid place-items-center text-muted text-xs">
            {suffix}
          </span>
        ) : null}
      </div>
      {error ? (
        <BaseField.Error match role="alert" className="text-[0.8125rem] text-bad leading-5">
          {error}
        </BaseField.Error>
      ) : hint ? (
        <BaseField.Description className={hintStyle}>{hint}</BaseField.Description>
      ) : null}
    </BaseField.Root>
  );
}
