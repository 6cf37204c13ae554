'use client';

import { signIn } from 'next-auth/react';
import { useState } from 'react';
import { Alert } from '#components/account/alert';
import { PasswordField } from '#components/account/password-field';
import { TextLink } from '#components/account/text-link';
import type { FormAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

interface SignUpFormProps {
  signUp(input: {
    name?: string;
    email: string;
    password: string;
    timeZone: string;
  }): Promise<FormAnswer<{ slug: string }>>;
}

const boxes = ['name', 'email', 'password'] as const;

interface Fault {
  readonly field: string | null;
  readonly code?: string;
  readonly message: string;
}

/** Creates the account, signs in and opens the new workspace. */
export function SignUpForm({ signUp }: SignUpFormProps) {
  const [fault, setFault] = useState<Fault | null>(null);
  const [pending, setPending] = useState(false);

  async function send(data: FormData, form: HTMLFormElement) {
    const name = String(data.get('name') ?? '').trim();
    const email = String(data.get('email') ?? '').trim();
    const password = String(data.get('password') ?? '');
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    setPending(true);
    setFault(null);
    const answer = await signUp({ ...(name === '' ? {} : { name }), email, password, timeZone }).catch(
      () => null,
    );
    if (answer?.ok) {
      const entered = await signIn('credentials', { email, password, redirect: false }).catch(
        () => undefined,
      );
      // The account exists either way.
      window.location.assign(entered?.ok ? `/${answer.value.slug}` : '/sign-in');
      return;
    }
    setPending(false);
    setFault(answer ?? { field: null, message: 'The gateway did not answer. Try again in a moment.' });
    const box = boxes.find((one) => one === answer?.field) ?? 'email';
    form.querySelector<HTMLInputElement>(`[name=${box}]`)?.focus();
  }

  const errorOf = (name: string) => (fault?.field === name ? fault.message : undefined);
  const taken = fault?.field === 'email' && fault.code === 'conflict';
  return (
    <Form onSend={send} className="grid gap-4" noValidate>
      {fault && !boxes.some(errorOf) ? <Alert tone="bad">{fault.message}</Alert> : null}
      <Field
        label="Name"
        name="name"
        autoComplete="name"
        maxLength={100}
        hint="Optional. Other members see it."
        error={errorOf('name')}
      />
      <Field
        label="Email"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        required
        maxLength={320}
        error={
          taken ? (
            <>
              This address already has an account. <TextLink href="/sign-in">Sign in</TextLink> or{' '}
              <TextLink href="/forgot-password">reset your password</TextLink>.
            </>
          ) : (
            errorOf('email')
          )
        }
      />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint="At least 10 characters. Three random words are enough."
        error={errorOf('password')}
      />
      <Button type="submit" tone="primary" disabled={pending} className="mt-1">
        {pending ? 'Creating your account…' : 'Create account'}
      </Button>
    </Form>
  );
}
