'use client';

import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { FaultText } from '#components/form/fault';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

interface NewWorkspaceFormProps {
  open(input: unknown): Promise<FormAnswer<{ slug: string }>>;
}

/** Creates a workspace in the browser's time zone and opens it. */
export function NewWorkspaceForm({ open }: NewWorkspaceFormProps) {
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, setPending] = useState(false);

  async function send(data: FormData) {
    const name = String(data.get('name') ?? '').trim();
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    setPending(true);
    const answer = await open({ name, timeZone }).catch(() => null);
    if (answer?.ok) {
      // A full page load, because every part of the page has the list of workspaces.
      window.location.assign(`/${answer.value.slug}`);
      return;
    }
    setPending(false);
    setFault(answer ?? { message: 'The gateway did not answer. Try again in a moment.', signedOut: false });
  }

  return (
    <Form onSend={send} className="grid gap-4" noValidate>
      <Field
        label="Name"
        name="name"
        placeholder="Acme Labs"
        autoComplete="off"
        maxLength={100}
        required
        hint="The workspace’s address is based on its name; you can change both later."
        error={fault ? <FaultText fault={fault} /> : undefined}
      />
      <Button type="submit" tone="primary" disabled={pending}>
        {pending ? 'Creating…' : 'Create workspace'}
      </Button>
    </Form>
  );
}
