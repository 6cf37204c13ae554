'use client';

import { signIn } from 'next-auth/react';
import { useState } from 'react';
import { Alert } from '#components/account/alert';
import { PasswordField } from '#components/account/password-field';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

const messages: Record<string, string> = {
  CredentialsSignin: 'Incorrect email or password. Check both and try again.',
  Unavailable: 'Signing in is temporarily unavailable. Try again in a moment.',
  TooManyAttempts: 'Too many attempts. Wait 15 minutes, then try again.',
  UnverifiedEmail:
    'That account’s email address is not verified. Verify it with the provider, then try again.',
  AddressTaken:
    'This address already has an account that is not verified. Sign in with its password and verify it, or reset the password.',
  SignUpClosed:
    'There is no account for this address, and sign-up is closed. Ask your gateway administrator for an account.',
  AccessDenied: 'The provider denied access.',
};
const otherwise = 'Could not sign in. Try again in a moment.';

interface SignInFormProps {
  /** Console path to go to afterwards; already checked by the server. */
  target: string;
  /** Why signing in with another account failed; a code from the URL. */
  error: string | null;
}

export function SignInForm({ target, error }: SignInFormProps) {
  const [message, setMessage] = useState<string | null>(error && (messages[error] ?? otherwise));
  const [pending, setPending] = useState(false);

  async function enter(data: FormData, form: HTMLFormElement) {
    setPending(true);
    setMessage(null);
    const result = await signIn('credentials', {
      email: String(data.get('email') ?? ''),
      password: String(data.get('password') ?? ''),
      redirect: false,
    }).catch(() => undefined);
    if (result?.ok && !result.error) {
      window.location.assign(target);
      return;
    }
    setPending(false);
    setMessage(messages[result?.error ?? ''] ?? 'The gateway did not answer. Try again in a moment.');
    form.querySelector<HTMLInputElement>('[name=password]')?.select();
  }

  return (
    <Form onSend={enter} className="grid gap-4">
      {message ? <Alert tone="bad">{message}</Alert> : null}
      <Field
        label="Email"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        required
        maxLength={320}
      />
      <PasswordField label="Password" name="password" autoComplete="current-password" />
      <Button type="submit" tone="primary" disabled={pending} className="mt-1">
        {pending ? 'Signing in…' : 'Sign in'}
      </Button>
    </Form>
  );
}
