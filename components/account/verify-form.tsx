'use client';

import Link from 'next/link';
import { useState } from 'react';
import { Alert } from '#components/account/alert';
import type { FormAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { Button, buttonStyle } from '#components/ui/button';

type Verified = FormAnswer<{ email: string; credit: string | null }>;

interface VerifyFormProps {
  token: string;
  verify(input: unknown): Promise<Verified>;
}

/** Verification takes a click, because mail scanners open every link in an email. */
export function VerifyForm({ token, verify }: VerifyFormProps) {
  const [answer, setAnswer] = useState<Verified | null>(null);
  const [pending, setPending] = useState(false);

  async function press() {
    setPending(true);
    const said = await verify({ token }).catch(() => null);
    setPending(false);
    setAnswer(
      said ?? { ok: false, message: 'The gateway did not answer. Try again.', field: null, signedOut: false },
    );
  }

  if (answer?.ok) {
    const { email, credit } = answer.value;
    return (
      <div className="grid gap-4">
        <Alert tone="good">
          {email} is verified.{credit === null ? '' : ` Your workspace got $${credit} of credit.`}
        </Alert>
        <Link href="/" className={buttonStyle({ tone: 'primary' })}>
          Go to the console
        </Link>
      </div>
    );
  }
  return (
    <div className="grid gap-4">
      {answer ? <Alert tone="bad">{answer.message}</Alert> : null}
      {answer?.field === 'token' ? (
        <Link href="/account" className={buttonStyle({ tone: 'primary' })}>
          Request a new link
        </Link>
      ) : (
        <Form onSend={press} className="grid">
          <Button type="submit" tone="primary" disabled={pending}>
            {pending ? 'Verifying…' : 'Verify address'}
          </Button>
        </Form>
      )}
    </div>
  );
}
