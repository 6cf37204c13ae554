'use client';

import { ChevronRight } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState, useTransition } from 'react';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { OperationField } from '#components/form/operation-field';
import { Button } from '#components/ui/button';
import { DialogBody, DialogFooter } from '#components/ui/dialog';
import { toast } from '#components/ui/toaster';
import { changedOf } from '#lib/console/changed';
import type { FormField } from '#lib/console/form';

/** What a form sends: text of its fields, and values of its other controls. */
export type Values = Readonly<Record<string, unknown>>;

interface OperationFormProps<Value> {
  /** As the operation declares them. */
  fields: readonly FormField[];
  /** Every model of the catalogue, for fields that choose among them. */
  models: readonly string[];
  /**
   * The current values, by field: text, lists of models, the day of a time. If given, only changes are sent,
   * so that a form that was opened before another change does not undo it.
   */
  initial?: Values;
  send(values: Values): Promise<FormAnswer<Value>>;
  /** Button text. */
  verb: { readonly idle: string; readonly pending: string };
  onCancel(): void;
  onDone(value: Value, sent: Values): void;
}

interface Fault {
  readonly field: string | null;
  readonly message: string;
  readonly signedOut: boolean;
}

/** The control of a field with an error; a button, if it is a group of them. */
const invalid = '[aria-invalid="true"], [data-fault]';

/** A form for the fields that an operation declares; each error is shown at its field. */
export function OperationForm<Value>(props: OperationFormProps<Value>) {
  const { fields, models, send, verb, onCancel, onDone } = props;
  // The values when the form was opened, even if the page refreshes in the meantime.
  const [initial] = useState(props.initial ?? {});
  const [chosen, setChosen] = useState<Values>({});
  const [fault, setFault] = useState<Fault | null>(null);
  // An edit shows everything: what people come to change is mostly a limit.
  const [more, setMore] = useState(props.initial !== undefined);
  const [pending, startTransition] = useTransition();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (fault) form.current?.querySelector<HTMLElement>(invalid)?.focus();
  }, [fault]);
  const faulty = fields.find((field) => field.name === fault?.field?.split('.')[0]);

  function refuse(next: Fault) {
    setFault(next);
    if (fields.find((field) => field.name === next.field)?.group) setMore(true);
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const undated = fields.find(({ name, kind }) => kind === 'moment' && chosen[name] === '');
    if (undated) {
      refuse({ field: undated.name, message: 'Choose the last day.', signedOut: false });
      return;
    }
    const texts = fields.flatMap(({ name }) => {
      const text = data.get(name);
      return typeof text === 'string' ? [[name, text.trim()]] : [];
    });
    const values = { ...Object.fromEntries(texts), ...chosen };
    const sent = props.initial === undefined ? values : changedOf(values, initial);
    startTransition(async () => {
      const answer = await orNoAnswer(send(sent));
      if (answer.ok) onDone(answer.value, values);
      else if (form.current) refuse(answer);
      // If the form was closed in the meantime, the error must still be shown.
      else toast.error(answer.message);
    });
  }

  const shown = (field: FormField) => (
    <OperationField
      key={field.name}
      field={field}
      models={models}
      value={field.name in chosen ? chosen[field.name] : initial[field.name]}
      initial={initial[field.name]}
      onChange={(value) => setChosen((before) => ({ ...before, [field.name]: value }))}
      error={faulty === field ? fault?.message : undefined}
    />
  );
  const groups = [...new Set(fields.flatMap(({ group }) => group?.title ?? []))];
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <DialogBody>
        {fault && !faulty ? <FaultLine fault={fault} framed /> : null}
        {fields.filter(({ group }) => group === undefined).map(shown)}
        {groups.length > 0 ? (
          <details open={more} onToggle={(event) => setMore(event.currentTarget.open)} className="group">
            <summary className="flex list-none items-center gap-1.5 rounded-md py-1 font-medium text-[0.8125rem]">
              <ChevronRight
                aria-hidden
                className="size-4 text-muted transition-transform group-open:rotate-90"
              />
              {inOneSentence(groups)}
              <span className="font-normal text-muted">optional</span>
            </summary>
            {groups.map((title) => (
              <FieldGroup
                key={title}
                fields={fields.filter(({ group }) => group?.title === title)}
                shown={shown}
              />
            ))}
          </details>
        ) : null}
      </DialogBody>
      <DialogFooter>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" tone="primary" disabled={pending}>
          {pending ? verb.pending : verb.idle}
        </Button>
      </DialogFooter>
    </form>
  );
}

function FieldGroup({
  fields,
  shown,
}: {
  fields: readonly FormField[];
  shown(field: FormField): React.ReactNode;
}) {
  return (
    <fieldset className="mt-3 grid gap-3 sm:grid-cols-2">
      <legend className="mb-2 text-muted text-xs">{fields[0]?.group?.help}</legend>
      {fields.map(shown)}
    </fieldset>
  );
}

/** "Spend caps", "Rate limits" → "Spend caps and rate limits". */
function inOneSentence([first = '', ...rest]: readonly string[]): string {
  const lower = rest.map((title) => `${title.charAt(0).toLowerCase()}${title.slice(1)}`);
  const last = lower.pop();
  return last === undefined ? first : `${[first, ...lower].join(', ')} and ${last}`;
}
