'use client';

import { useState } from 'react';
import { Alert } from '#components/account/alert';
import type { FormAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

interface ForgotFormProps {
  request(input: unknown): Promise<FormAnswer<unknown>>;
  /** Whether mail is sent; if not, links are in the server's log. */
  mails: boolean;
}

/** Requests a reset link; the response is the same for every address. */
export function ForgotForm({ request, mails }: ForgotFormProps) {
  const [answer, setAnswer] = useState<FormAnswer<unknown> | null>(null);
  const [asked, setAsked] = useState('');
  const [pending, setPending] = useState(false);

  async function send(data: FormData) {
    const email = String(data.get('email') ?? '').trim();
    setPending(true);
    const said = await request({ email }).catch(() => null);
    setPending(false);
    setAsked(email);
    setAnswer(
      said ?? { ok: false, message: 'The gateway did not answer. Try again.', field: null, signedOut: false },
    );
  }

  if (answer?.ok) {
    return (
      <Alert tone="good">
        If {asked} has an account, a link to reset the password{' '}
        {mails ? 'is on its way' : 'is in the server log'}. It works once and expires after one hour.
      </Alert>
    );
  }
  return (
    <Form onSend={send} className="grid gap-4" noValidate>
      {answer && answer.field === null ? <Alert tone="bad">{answer.message}</Alert> : null}
      <Field
        label="Email"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        required
        maxLength={320}
        error={answer?.field === 'email' ? answer.message : undefined}
      />
      <Button type="submit" tone="primary" disabled={pending}>
        {pending ? 'Sending…' : mails ? 'Send link' : 'Create link'}
      </Button>
    </Form>
  );
}
