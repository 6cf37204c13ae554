'use client';

import { useRouter } from 'next/navigation';
import { useId, useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';
import { inputStyle } from '#components/ui/input';
import { SelectMark } from '#components/ui/native-select';
import { toast } from '#components/ui/toaster';
import { changedOf } from '#lib/console/changed';
import { choiceName, type FormField } from '#lib/console/form';

interface PlainFormProps {
  /** Slug of the workspace; '' for the gateway. */
  workspace?: string;
  fields: readonly FormField[];
  /** Fields with more than one line. */
  long?: readonly string[];
  /** What the boxes hold at first, by field; then only what was changed is sent. */
  initial?: Readonly<Record<string, string>>;
  /** Additional input, such as an id. */
  besides?: Readonly<Record<string, string>>;
  verb: { readonly idle: string; readonly pending: string };
  /** For a form that moves money: the ref of one submission, which the page generates on each load. */
  ownRef?: string;
  /** Asked before it is sent, of what the boxes hold; null: nothing is asked. */
  question?: string | ((given: Readonly<Record<string, string>>) => string | null);
  danger?: boolean;
  /** Said beside a required box that is empty; absent: the operation says what is wrong with it. */
  missing?: string;
  /** Said when it is done. */
  done: string;
  /** Entity tag of what the page shows: a change of something else is refused, and the page read again. */
  seen?: string;
  send(
    workspace: string,
    input: Readonly<Record<string, unknown>>,
    seen?: string,
  ): Promise<FormAnswer<unknown>>;
}

interface Fault {
  readonly field: string | null;
  readonly message: string;
  readonly signedOut: boolean;
}

/** The fields of an operation in native controls, so that a page with several forms loads little script. */
export function PlainForm(props: PlainFormProps) {
  const { workspace = '', fields, long = [], initial = {}, besides = {}, ownRef, verb, done, send } = props;
  const { question = null, danger = false, missing, seen } = props;
  const router = useRouter();
  const [fault, setFault] = useState<Fault | null>(null);
  const [pending, startTransition] = useTransition();
  /** The last posted ref; the button is disabled until a new one arrives, because a ref counts only once. */
  const [posted, setPosted] = useState<string | null>(null);
  /** What is asked, and what is sent if it is confirmed. */
  const [asked, ask] = useState<{ readonly question: string; send(): void } | null>(null);
  /** The button that asked comes back where the question was, with the focus. */
  const [wasAsked, setWasAsked] = useState(false);
  if (asked && !wasAsked) setWasAsked(true);

  function submit(data: FormData, form: HTMLFormElement) {
    const given = fields.flatMap(({ name, kind }) => {
      const text = String(data.get(name) ?? '').trim();
      // A workspace's day is interpreted in the workspace's time zone, which may not be the browser's.
      if (kind !== 'moment' || text === '' || workspace !== '') return [[name, text]];
      const at = new Date(text);
      return [[name, Number.isNaN(at.getTime()) ? text : at.toISOString()]];
    });
    const values: Record<string, string> = Object.fromEntries(given);
    const empty = missing && fields.find(({ name, required }) => required && values[name] === '');
    if (empty) {
      setFault({ field: empty.name, message: missing, signedOut: false });
      return;
    }
    setFault(null);
    const asking = typeof question === 'function' ? question(values) : question;
    if (asking === null) post(values, form);
    else ask({ question: asking, send: () => post(values, form) });
  }

  function post(given: Readonly<Record<string, string>>, form: HTMLFormElement) {
    ask(null);
    startTransition(async () => {
      const input = { ...changedOf(given, initial), ...besides, ...(ownRef ? { ref: ownRef } : {}) };
      const answer = await send(workspace, input, seen).catch(() => null);
      if (!answer?.ok) {
        setFault(answer ?? { field: null, message: noAnswer, signedOut: false });
        if (answer && seen !== undefined) {
          // The form may be gone once the page shows what it is now.
          toast.error(answer.message);
          router.refresh();
        }
        return;
      }
      setFault(null);
      setPosted(ownRef ?? null);
      toast.success(done);
      form.reset();
      router.refresh();
    });
  }

  const faulty = fields.find(({ name }) => name === fault?.field?.split('.')[0]);
  return (
    <Form onSend={submit} onInput={() => ask(null)} noValidate className="@container p-4">
      <div className="grid gap-3 @md:grid-cols-2">
        {fault && !faulty ? <FaultLine fault={fault} framed className="@md:col-span-2" /> : null}
        {fields.map((field) => (
          <PlainField
            key={field.name}
            field={field}
            long={long.includes(field.name)}
            momentType={workspace === '' ? 'datetime-local' : 'date'}
            initial={initial[field.name] ?? ''}
            error={faulty === field ? (fault?.message ?? null) : null}
          />
        ))}
        <div className="@md:col-span-2">
          {asked ? (
            <fieldset aria-label={asked.question} className="grid gap-2 rounded-md bg-warn-soft px-3 py-2.5">
              <p className="text-warn tabular-nums leading-5 [overflow-wrap:anywhere]">{asked.question}</p>
              <div className="flex flex-wrap gap-2">
                <Button size="small" tone={danger ? 'danger' : 'primary'} autoFocus onClick={asked.send}>
                  {verb.idle}
                </Button>
                <Button size="small" onClick={() => ask(null)}>
                  Cancel
                </Button>
              </div>
            </fieldset>
          ) : (
            <Button
              type="submit"
              tone={danger ? 'danger' : 'primary'}
              autoFocus={wasAsked}
              disabled={pending || (ownRef !== undefined && ownRef === posted)}
            >
              {pending ? verb.pending : verb.idle}
            </Button>
          )}
        </div>
      </div>
    </Form>
  );
}

interface PlainFieldProps {
  field: FormField;
  long: boolean;
  momentType: 'date' | 'datetime-local';
  initial: string;
  error: string | null;
}

function PlainField({ field, long, momentType, initial, error }: PlainFieldProps) {
  const id = useId();
  const { name, kind, label, help, choices, required, example, empty } = field;
  const note = error ?? help;
  const control = {
    id,
    name,
    required,
    defaultValue: initial,
    'aria-invalid': error !== null,
    ...(note ? { 'aria-describedby': `${id}-note` } : {}),
    className: classNames(inputStyle, long && 'h-auto py-2 leading-5'),
  };
  const placeholder = empty ?? (required ? (example ?? undefined) : undefined);
  return (
    <div className={classNames('grid content-start gap-1.5', long && '@md:col-span-2')}>
      <label htmlFor={id} className="font-medium text-[0.8125rem] text-ink leading-5">
        {label}
        {required ? null : <span className="font-normal text-muted"> (optional)</span>}
      </label>
      {kind === 'choice' ? (
        <span className="relative grid">
          <select
            {...control}
            defaultValue={initial || (required ? choices[0] : '')}
            className={classNames(inputStyle, 'cursor-pointer appearance-none truncate pr-8 hover:bg-hover')}
          >
            {required ? null : <option value="">Default</option>}
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {choiceName(field, choice)}
              </option>
            ))}
          </select>
          <SelectMark />
        </span>
      ) : long ? (
        <textarea rows={3} placeholder={placeholder} {...control} />
      ) : (
        <span className="relative grid">
          {kind === 'money' ? (
            <span aria-hidden className="absolute top-2 left-3 text-muted leading-5">
              $
            </span>
          ) : null}
          <input
            type={kind === 'moment' ? momentType : 'text'}
            autoComplete="off"
            {...(kind === 'money' || kind === 'count' ? { inputMode: 'decimal' as const } : {})}
            placeholder={placeholder}
            {...control}
            className={classNames(inputStyle, kind === 'money' && 'pl-6.5')}
          />
        </span>
      )}
      {note ? (
        <p
          id={`${id}-note`}
          className={`text-[0.8125rem] leading-5 ${error === null ? 'text-muted' : 'text-bad'}`}
          {...(error === null ? {} : { role: 'alert' })}
        >
          {note}
        </p>
      ) : null}
    </div>
  );
}
