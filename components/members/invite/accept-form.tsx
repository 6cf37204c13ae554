'use client';

import { useState } from 'react';
import { Alert } from '#components/account/alert';
import type { FormAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';

interface AcceptFormProps {
  token: string;
  email: string;
  accept(input: unknown): Promise<FormAnswer<{ slug: string }>>;
}

/** Accepting takes a click, because mail scanners open every link in an email. */
export function AcceptForm({ token, email, accept }: AcceptFormProps) {
  const [fault, setFault] = useState<string | null>(null);
  const [pending, setPending] = useState(false);

  async function press() {
    setPending(true);
    const answer = await accept({ token }).catch(() => null);
    if (answer?.ok) {
      window.location.assign(`/${answer.value.slug}`);
      return;
    }
    setPending(false);
    setFault(answer?.message ?? 'The gateway did not answer. Try again.');
  }

  return (
    <Form onSend={press} className="grid gap-4">
      {fault ? <Alert tone="bad">{fault}</Alert> : null}
      <p className="text-muted leading-5 [overflow-wrap:anywhere]">You are signed in as {email}.</p>
      <Button type="submit" tone="primary" disabled={pending}>
        {pending ? 'Joining…' : 'Accept invitation'}
      </Button>
    </Form>
  );
}
