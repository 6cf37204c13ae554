'use client';

import { ChevronRight } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { type Expiry, ExpiryField, expiryMoment } from '#components/keys/expiry-field';
import { useKeyActions } from '#components/keys/key-actions';
import { ModelScope } from '#components/keys/model-scope';
import { Button } from '#components/ui/button';
import { DialogBody, DialogFooter } from '#components/ui/dialog';
import { Field } from '#components/ui/field';

interface KeyFormProps {
  workspace: string;
  models: readonly string[];
  onCancel(): void;
  onCreated(made: { name: string; secret: string; model: string }): void;
}

const caps = [
  { name: 'dailyCap', label: 'Per day', hint: 'Midnight to midnight in the workspace’s zone' },
  { name: 'd7Cap', label: 'Any 7 days' },
  { name: 'd30Cap', label: 'Any 30 days' },
  { name: 'quota', label: 'Lifetime', hint: 'The key stops when it is used up' },
] as const;

const limits = [
  { name: 'rpm', label: 'Requests a minute' },
  { name: 'tpm', label: 'Tokens a minute' },
  { name: 'concurrency', label: 'Calls at once' },
  { name: 'maxOutputTokens', label: 'Output tokens a call' },
] as const;

/** Name, scope and limits of a new key; what is left empty has no limit. */
export function KeyForm({ workspace, models, onCancel, onCreated }: KeyFormProps) {
  const actions = useKeyActions();
  const [scope, setScope] = useState<readonly string[] | null>(null);
  const [expiry, setExpiry] = useState<Expiry>({ choice: 'never', day: '' });
  const [fault, setFault] = useState<{ field: string | null; message: string; signedOut: boolean } | null>(
    null,
  );
  const [more, setMore] = useState(false);
  const [pending, startTransition] = useTransition();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (fault) form.current?.querySelector<HTMLElement>('input[aria-invalid="true"]')?.focus();
  }, [fault]);
  const errorOf = (name: string) => (fault?.field?.split('.')[0] === name ? fault.message : undefined);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const text = (name: string) => String(data.get(name) ?? '').trim();
    if (expiry.choice === 'day' && !expiry.day) {
      setFault({ field: 'expiresAt', message: 'Choose the last day.', signedOut: false });
      return;
    }
    const given = [...caps, ...limits].flatMap(({ name }) => (text(name) ? [[name, text(name)]] : []));
    startTransition(async () => {
      const answer = await actions.create(workspace, {
        name: text('name'),
        models: scope,
        expiresAt: expiryMoment(expiry, Date.now()),
        ...Object.fromEntries(given),
      });
      if (answer.ok) {
        onCreated({ name: text('name'), secret: answer.value.key, model: scope?.[0] ?? '' });
        return;
      }
      setFault(answer);
      if (given.some(([name]) => name === answer.field)) setMore(true);
    });
  }

  const unplaced = fault && !['name', 'models', 'expiresAt'].includes(fault.field?.split('.')[0] ?? '');
  const inMore = [...caps, ...limits].some(({ name }) => name === fault?.field);
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <DialogBody>
        {unplaced && !inMore ? (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
            {fault.message}
            {fault.signedOut ? <SignInAgain /> : null}
          </p>
        ) : null}
        <Field
          label="Name"
          name="name"
          placeholder="production-web"
          hint="Where it is used, so that you recognise it in the logs."
          error={errorOf('name')}
          maxLength={100}
          autoComplete="off"
          required
        />
        <ModelScope models={models} scope={scope} onChange={setScope} error={errorOf('models')} />
        <ExpiryField expiry={expiry} onChange={setExpiry} error={errorOf('expiresAt')} />
        <details open={more} onToggle={(event) => setMore(event.currentTarget.open)} className="group">
          <summary className="flex list-none items-center gap-1.5 rounded-md py-1 font-medium text-[0.8125rem]">
            <ChevronRight
              aria-hidden
              className="size-4 text-muted transition-transform group-open:rotate-90"
            />
            Spend caps and rate limits
            <span className="font-normal text-muted">optional</span>
          </summary>
          <fieldset className="mt-3 grid gap-3 sm:grid-cols-2">
            <legend className="mb-2 text-muted text-xs">
              Spend caps in USD. The call that crosses a cap completes; the next one is refused.
            </legend>
            {caps.map((cap) => (
              <Field
                key={cap.name}
                {...cap}
                prefix="$"
                inputMode="decimal"
                placeholder="No cap"
                error={errorOf(cap.name)}
              />
            ))}
          </fieldset>
          <fieldset className="mt-4 grid gap-3 sm:grid-cols-2">
            <legend className="mb-2 text-muted text-xs">
              Rate limits of this key, beside those of the workspace.
            </legend>
            {limits.map((limit) => (
              <Field
                key={limit.name}
                {...limit}
                inputMode="numeric"
                placeholder="No limit"
                error={errorOf(limit.name)}
              />
            ))}
          </fieldset>
        </details>
      </DialogBody>
      <DialogFooter>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" tone="primary" disabled={pending}>
          {pending ? 'Creating…' : 'Create key'}
        </Button>
      </DialogFooter>
    </form>
  );
}
