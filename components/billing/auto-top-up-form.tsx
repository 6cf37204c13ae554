'use client';

import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { orNoAnswer, type Send } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { Form } from '#components/form/form';
import { Button } from '#components/ui/button';
import { Checkbox } from '#components/ui/checkbox';
import { Field } from '#components/ui/field';
import { toast } from '#components/ui/toaster';
import { chargesNow } from '#lib/console/billing/charges-now';
import { changedOf } from '#lib/console/changed';
import type { ShownAutoTopUp } from '#lib/control/operations/auto-top-up/find';
import { showMoneyDown } from '#lib/core/show-money';

interface AutoTopUpFormProps {
  shown: ShownAutoTopUp;
  workspace: string;
  set: Send<ShownAutoTopUp>;
  resume: Send<ShownAutoTopUp>;
}

const boxes = [
  { name: 'threshold', label: 'When the balance is at or below' },
  { name: 'amount', label: 'Top up by' },
  { name: 'monthlyCap', label: 'Monthly maximum' },
] as const;

/** The limits of automatic top-ups, and the checkbox that gives consent to them. */
export function AutoTopUpForm({ shown, workspace, set, resume }: AutoTopUpFormProps) {
  const router = useRouter();
  // As it was when the form was opened, whatever the page behind it learns meanwhile.
  const [initial] = useState({ ...shown });
  const [enabled, setEnabled] = useState(shown.enabled);
  const [typed, setTyped] = useState({
    threshold: shown.threshold,
    amount: shown.amount,
    monthlyCap: shown.monthlyCap,
  });
  const [fault, setFault] = useState<{ field: string | null; message: string; signedOut: boolean } | null>(
    null,
  );
  const [pending, startTransition] = useTransition();

  function send(act: Send<ShownAutoTopUp>, input: Record<string, unknown>, done: string) {
    startTransition(async () => {
      const answer = await orNoAnswer(act(workspace, input));
      setFault(answer.ok ? null : answer);
      if (!answer.ok) return;
      toast.success(done);
      router.refresh();
    });
  }

  function submit(data: FormData) {
    const texts = boxes.map(({ name }) => [name, String(data.get(name) ?? '').trim()]);
    const values = { ...Object.fromEntries(texts), enabled: data.has('enabled') };
    send(set, changedOf(values, initial), 'Automatic top-ups saved');
  }

  const now = chargesNow(shown, { ...typed, enabled });
  // Resuming uses the saved limits.
  const nowResumed = shown.paused ? chargesNow(shown, shown, true) : null;
  const elsewhere = fault && !boxes.some(({ name }) => name === fault.field);
  return (
    <Form onSend={submit} noValidate className="grid gap-3">
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
        {boxes.map(({ name, label }) => (
          <Field
            key={name}
            label={label}
            name={name}
            prefix="$"
            inputMode="decimal"
            autoComplete="off"
            defaultValue={shown[name]}
            onValueChange={(value) => setTyped((before) => ({ ...before, [name]: value }))}
            error={fault?.field === name ? fault.message : undefined}
          />
        ))}
      </div>
      <div className="-ml-2">
        <Checkbox name="enabled" checked={enabled} onChange={setEnabled}>
          Charge the saved card automatically when the balance is at or below the threshold
        </Checkbox>
      </div>
      {now || nowResumed ? (
        <p role="note" className="rounded-md bg-warn-soft px-3 py-2 text-warn leading-5">
          {now ?? `Resuming: ${nowResumed}`} The balance of {showMoneyDown(shown.balance)} is at or below the
          threshold.
        </p>
      ) : null}
      {elsewhere ? <FaultLine fault={fault} framed /> : null}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" disabled={pending}>
          {pending ? 'Saving…' : 'Save'}
        </Button>
        {shown.paused ? (
          <Button
            tone="primary"
            disabled={pending}
            onClick={() => send(resume, {}, 'Automatic top-ups resumed')}
          >
            Resume
          </Button>
        ) : null}
      </div>
    </Form>
  );
}
