'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { toast } from 'sonner';
import { Alert } from '#components/account/alert';
import { PasswordField } from '#components/account/password-field';
import type { FormAnswer } from '#components/form/answer';
import { FaultText } from '#components/form/fault';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';

interface PasswordFormProps {
  /** Users who sign in only with another account have no password. */
  hasPassword: boolean;
  change(input: unknown): Promise<FormAnswer<{ ended: number }>>;
}

interface Fault {
  readonly field: string | null;
  readonly message: string;
  readonly signedOut: boolean;
}

export function PasswordForm({ hasPassword, change }: PasswordFormProps) {
  const router = useRouter();
  const [fault, setFault] = useState<Fault | null>(null);
  const [pending, setPending] = useState(false);

  async function send(data: FormData, form: HTMLFormElement) {
    const password = String(data.get('password') ?? '');
    const current = String(data.get('current') ?? '');
    setPending(true);
    const answer = await change({ password, ...(hasPassword ? { current } : {}) }).catch(() => null);
    setPending(false);
    if (!answer?.ok) {
      setFault(
        answer ?? { field: null, message: 'The gateway did not answer. Try again.', signedOut: false },
      );
      return;
    }
    setFault(null);
    form.reset();
    const { ended } = answer.value;
    toast.success(
      ended === 0
        ? 'Password changed'
        : `Password changed; ${ended} other ${ended === 1 ? 'session' : 'sessions'} ended`,
    );
    router.refresh();
  }

  const errorOf = (name: string) => (fault?.field === name ? fault.message : undefined);
  return (
    <Form onSend={send} className="grid gap-4 p-4" noValidate>
      {fault && fault.field === null ? (
        <Alert tone="bad">
          <FaultText fault={fault} />
        </Alert>
      ) : null}
      <div className="grid gap-4 sm:grid-cols-2">
        {hasPassword ? (
          <PasswordField
            label="Current password"
            name="current"
            autoComplete="current-password"
            error={errorOf('current')}
          />
        ) : null}
        <PasswordField
          label="New password"
          name="password"
          autoComplete="new-password"
          hint="At least 10 characters."
          error={errorOf('password')}
        />
      </div>
      <div>
        <Button type="submit" disabled={pending}>
          {pending ? 'Changing…' : hasPassword ? 'Change password' : 'Set a password'}
        </Button>
      </div>
    </Form>
  );
}
