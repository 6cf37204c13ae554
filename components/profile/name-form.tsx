'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { toast } from 'sonner';
import type { FormAnswer } from '#components/form/answer';
import { FaultText } from '#components/form/fault';
import { Form } from '#components/form/form';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { Field, labelStyle } from '#components/ui/field';

interface NameFormProps {
  email: string;
  name: string | null;
  /** null: this gateway does not require verification. */
  verified: boolean | null;
  rename(input: unknown): Promise<FormAnswer<unknown>>;
}

export function NameForm({ email, name, verified, rename }: NameFormProps) {
  const router = useRouter();
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, setPending] = useState(false);

  async function send(data: FormData) {
    const text = String(data.get('name') ?? '').trim();
    setPending(true);
    const answer = await rename({ name: text || null }).catch(() => null);
    setPending(false);
    if (!answer?.ok) {
      setFault(answer ?? { message: 'The gateway did not answer. Try again.', signedOut: false });
      return;
    }
    setFault(null);
    toast.success('Name saved');
    router.refresh();
  }

  return (
    <Form onSend={send} className="grid gap-4 p-4" noValidate>
      <div className="grid gap-1">
        <span className={labelStyle}>Email</span>
        <p className="flex flex-wrap items-center gap-2 [overflow-wrap:anywhere]">
          {email}
          {verified === true ? <Badge tone="good">Verified</Badge> : null}
          {verified === false ? <Badge tone="outline">Not verified</Badge> : null}
        </p>
      </div>
      <div className="flex flex-wrap items-end gap-3">
        <Field
          label="Name"
          name="name"
          defaultValue={name ?? ''}
          placeholder="Display name"
          autoComplete="name"
          maxLength={100}
          error={fault ? <FaultText fault={fault} /> : undefined}
          className="min-w-0 flex-1 basis-56"
        />
        <Button type="submit" disabled={pending}>
          {pending ? 'Saving…' : 'Save'}
        </Button>
      </div>
    </Form>
  );
}
