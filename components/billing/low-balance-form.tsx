'use client';

import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { useTyped } from '#components/form/use-typed';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

interface LowBalanceFormProps {
  workspace: string;
  /** Dollars as a decimal string; null: no email. */
  threshold: string | null;
  /** Whether the balance is below it now. */
  below: boolean;
  send(workspace: string, input: unknown): Promise<FormAnswer<{ threshold: string | null }>>;
}

/** The balance below which an email is sent; empty means never. */
export function LowBalanceForm({ workspace, threshold, below, send }: LowBalanceFormProps) {
  const router = useRouter();
  const [text, setText, box] = useTyped<HTMLInputElement>(threshold ?? '');
  const [saved, setSaved] = useState(false);
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();

  function submit(data: FormData) {
    const given = String(data.get('threshold') ?? '').trim();
    startTransition(async () => {
      const answer = await orNoAnswer(send(workspace, { threshold: given }));
      setSaved(answer.ok);
      setFault(answer.ok ? null : answer);
      if (answer.ok) router.refresh();
    });
  }

  return (
    <Form onSend={submit} noValidate className="grid max-w-md gap-3">
      <Field
        label="Email when below"
        ref={box}
        name="threshold"
        prefix="$"
        inputMode="decimal"
        autoComplete="off"
        placeholder="No email"
        value={text}
        onValueChange={(value) => {
          setText(String(value));
          setSaved(false);
        }}
        hint={`Owners, admins and billing members get one email each time the balance falls below this amount.${below ? ' It is below it now.' : ''}`}
        error={fault?.message}
      />
      {fault?.signedOut ? <SignInAgain /> : null}
      <div className="flex items-center gap-3">
        <Button type="submit" disabled={pending || text.trim() === (threshold ?? '')}>
          {pending ? 'Saving…' : 'Save'}
        </Button>
        <span role="status" className="text-muted text-xs">
          {saved ? 'Saved.' : ''}
        </span>
      </div>
    </Form>
  );
}
