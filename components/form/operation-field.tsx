'use client';

import { useId } from 'react';
import { FieldFault } from '#components/form/field-fault';
import { ModelScope } from '#components/form/model-scope';
import { MomentField } from '#components/form/moment-field';
import { Checkbox } from '#components/ui/checkbox';
import { Field, labelStyle } from '#components/ui/field';
import { NativeSelect } from '#components/ui/native-select';
import { choiceName, type FormField } from '#lib/console/form';

interface OperationFieldProps {
  field: FormField;
  models: readonly string[];
  /** The value of a control that is not a text field; undefined until it is changed. */
  value: unknown;
  /** Its value when the form was opened. */
  initial?: unknown;
  onChange(value: unknown): void;
  error: string | undefined;
}

/** The control for one declared field, by its kind. */
export function OperationField({ field, models, value, initial, onChange, error }: OperationFieldProps) {
  const { name, kind, label, help, choices } = field;
  const id = useId();
  const faultId = error ? id : undefined;
  const fault = error ? <FieldFault id={id}>{error}</FieldFault> : null;
  if (kind === 'models') {
    const scope = Array.isArray(value) ? value.map(String) : null;
    return <ModelScope models={models} scope={scope} onChange={onChange} error={error} />;
  }
  if (kind === 'moment')
    return (
      <MomentField
        label={label}
        day={typeof initial === 'string' ? initial : null}
        onChange={onChange}
        error={error}
      />
    );
  if (kind === 'switch') {
    return (
      <div className="grid gap-1">
        <Checkbox checked={value === true} onChange={onChange} faultId={faultId}>
          {label}
        </Checkbox>
        {fault}
      </div>
    );
  }
  if (kind === 'choice') {
    const options = choices.map((choice) => ({ value: choice, label: choiceName(field, choice) }));
    return (
      <div className="grid content-start gap-1.5">
        <span className={labelStyle}>{label}</span>
        <NativeSelect
          label={label}
          value={String(value ?? '')}
          options={options}
          onChange={onChange}
          faultId={faultId}
        />
        {fault}
      </div>
    );
  }
  const shown = field.required && kind !== 'password' ? field.example : null;
  const placeholder = field.empty ?? shown;
  return (
    <Field
      label={label}
      name={name}
      hint={help || undefined}
      error={error}
      autoComplete={kind === 'password' ? 'new-password' : 'off'}
      required={field.required}
      defaultValue={typeof initial === 'string' ? initial : ''}
      {...(placeholder === null ? {} : { placeholder })}
      {...(kind === 'money' ? { prefix: '$', inputMode: 'decimal' as const } : {})}
      {...(kind === 'count' ? { inputMode: 'numeric' as const } : {})}
      {...(field.lines ? { rows: 4, maxLength: 4000, spellCheck: false } : {})}
      {...(kind === 'text' && !field.lines ? { maxLength: 1000 } : {})}
      {...(kind === 'email' || kind === 'password' ? { type: kind } : {})}
    />
  );
}
