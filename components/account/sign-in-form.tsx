'use client';

import { Eye, EyeOff } from 'lucide-react';
import { signIn } from 'next-auth/react';
import { type FormEvent, useRef, useState } from 'react';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

const messages: Record<string, string> = {
  CredentialsSignin: 'The e-mail or the password is not right. Check both and try again.',
  Unavailable: 'The gateway cannot look this up just now. Try again in a moment.',
  TooManyAttempts: 'Too many attempts. Wait 15 minutes, then try again.',
};

/** @param target path of this console to go to afterwards; already checked by the server. */
export function SignInForm({ target }: { target: string }) {
  const [message, setMessage] = useState<string | null>(null);
  const [pending, setPending] = useState(false);
  const [visible, setVisible] = useState(false);
  const form = useRef<HTMLFormElement>(null);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
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
    form.current?.querySelector<HTMLInputElement>('[name=password]')?.select();
  }

  return (
    <form ref={form} method="post" onSubmit={submit} className="grid gap-4">
      {message ? (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
          {message}
        </p>
      ) : null}
      <Field
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        required
        maxLength={320}
      />
      <Field
        label="Password"
        name="password"
        type={visible ? 'text' : 'password'}
        autoComplete="current-password"
        required
        maxLength={1024}
        suffix={
          <Button
            tone="quiet"
            size="smallIcon"
            aria-label={visible ? 'Hide password' : 'Show password'}
            aria-pressed={visible}
            onClick={() => setVisible(!visible)}
          >
            {visible ? <EyeOff /> : <Eye />}
          </Button>
        }
      />
      <Button type="submit" tone="primary" disabled={pending} className="mt-1">
        {pending ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  );
}
