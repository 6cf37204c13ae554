'use client';

import { signIn } from 'next-auth/react';
import { useState } from 'react';
import { Alert } from '#components/account/alert';
import { PasswordField } from '#components/account/password-field';
import type { FormAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

interface JoinFormProps {
  token: string;
  email: string;
  join(input: unknown): Promise<FormAnswer<{ slug: string }>>;
}

/** Creates an account for the invited address, signs in and opens the workspace. */
export function JoinForm({ token, email, join }: JoinFormProps) {
  const [fault, setFault] = useState<{ field: string | null; message: string } | null>(null);
  const [pending, setPending] = useState(false);

  async function send(data: FormData) {
    const password = String(data.get('password') ?? '');
    const name = String(data.get('name') ?? '').trim();
    setPending(true);
    setFault(null);
    const answer = await join({ token, password, ...(name ? { name } : {}) }).catch(() => null);
    if (answer?.ok) {
      const entered = await signIn('credentials', { email, password, redirect: false }).catch(
        () => undefined,
      );
      window.location.assign(entered?.ok ? `/${answer.value.slug}` : '/sign-in');
      return;
    }
    setPending(false);
    setFault(answer ?? { field: null, message: 'The gateway did not answer. Try again in a moment.' });
  }

  const errorOf = (name: string) => (fault?.field === name ? fault.message : undefined);
  return (
    <Form onSend={send} className="grid gap-4" noValidate>
      {fault && !errorOf('password') && !errorOf('name') ? <Alert tone="bad">{fault.message}</Alert> : null}
      <Field label="Email" name="email" type="email" value={email} readOnly autoComplete="username" />
      <Field
        label="Name"
        name="name"
        hint="Optional. Other members see this name."
        autoComplete="name"
        maxLength={100}
        error={errorOf('name')}
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint="At least 10 characters. Three random words are enough."
        error={errorOf('password')}
      />
      <Button type="submit" tone="primary" disabled={pending}>
        {pending ? 'Creating your account…' : 'Create account and join'}
      </Button>
    </Form>
  );
}
