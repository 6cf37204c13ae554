'use client';

import Link from 'next/link';
import { useState } from 'react';
import { Alert } from '#components/account/alert';
import { PasswordField } from '#components/account/password-field';
import { TextLink } from '#components/account/text-link';
import type { FormAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { Button, buttonStyle } from '#components/ui/button';

interface ResetFormProps {
  token: string;
  reset(input: unknown): Promise<FormAnswer<{ email: string; disabledKeys: number }>>;
}

/** Sets a new password with the token of a reset link. */
export function ResetForm({ token, reset }: ResetFormProps) {
  const [answer, setAnswer] = useState<FormAnswer<{ email: string; disabledKeys: number }> | null>(null);
  const [pending, setPending] = useState(false);

  async function send(data: FormData) {
    const password = String(data.get('password') ?? '');
    setPending(true);
    const said = await reset({ token, password }).catch(() => null);
    setPending(false);
    setAnswer(
      said ?? { ok: false, message: 'The gateway did not answer. Try again.', field: null, signedOut: false },
    );
  }

  if (answer?.ok) {
    const { email, disabledKeys } = answer.value;
    return (
      <div className="grid gap-4">
        <Alert tone="good">
          The password for {email} is set. You have been signed out everywhere.
          {disabledKeys > 0
            ? ` ${disabledKeys} API ${disabledKeys === 1 ? 'key' : 'keys'} created before this address was verified ${disabledKeys === 1 ? 'is' : 'are'} disabled: enable the ones that are yours.`
            : ''}
        </Alert>
        <Link href="/sign-in" className={buttonStyle({ tone: 'primary' })}>
          Sign in
        </Link>
      </div>
    );
  }
  const dead = answer?.field === 'token';
  return (
    <Form onSend={send} className="grid gap-4" noValidate>
      {answer && answer.field !== 'password' ? (
        <Alert tone="bad">
          {answer.message} {dead ? <TextLink href="/forgot-password">Request a new link</TextLink> : null}
        </Alert>
      ) : null}
      <PasswordField
        label="New password"
        name="password"
        autoComplete="new-password"
        hint="At least 10 characters. Three random words are enough."
        error={answer?.field === 'password' ? answer.message : undefined}
      />
      <Button type="submit" tone="primary" disabled={pending}>
        {pending ? 'Setting…' : 'Set password'}
      </Button>
    </Form>
  );
}
