'use client';

import { useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { useLeadTo } from '#components/billing/use-lead-to';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { useTyped } from '#components/form/use-typed';
import { Button } from '#components/ui/button';
import { Checkbox } from '#components/ui/checkbox';
import { Field } from '#components/ui/field';
import { ToggleGroup } from '#components/ui/toggle-group';
import type { ShownTopUp } from '#lib/control/operations/top-up/find';

const presets = ['10', '25', '50', '100', '250'] as const;
const options = presets.map((value) => ({ value, label: `$${value}` }));

interface TopUpFormProps {
  workspace: string;
  send(workspace: string, input: unknown): Promise<FormAnswer<ShownTopUp>>;
}

/** An amount, and a button that opens the payment page. */
export function TopUpForm({ workspace, send }: TopUpFormProps) {
  const [amount, setAmount, box] = useTyped<HTMLInputElement>('25');
  const [saveCard, setSaveCard] = useState(false);
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [asking, startTransition] = useTransition();
  const { leading, leadTo } = useLeadTo();
  const pending = asking || leading;

  function submit(data: FormData) {
    const given = String(data.get('amount') ?? '').trim();
    startTransition(async () => {
      const input = { amount: given, saveCard: data.has('saveCard') };
      const answer = await orNoAnswer(send(workspace, input));
      if (!answer.ok) setFault(answer);
      else if (answer.value.url) leadTo(answer.value.url);
    });
  }

  return (
    <Form onSend={submit} noValidate className="grid gap-4">
      <ToggleGroup
        label="Amounts"
        value={presets.find((preset) => preset === amount) ?? ''}
        options={options as readonly { value: string; label: string }[]}
        onChange={(value) => setAmount(value)}
      />
      <Field
        label="Amount"
        ref={box}
        name="amount"
        prefix="$"
        inputMode="decimal"
        autoComplete="off"
        value={amount}
        onValueChange={(value) => setAmount(String(value))}
        hint="$5 to $10,000. Any processing fee is shown before you pay."
        error={fault?.message}
      />
      <div className="-ml-2">
        <Checkbox name="saveCard" checked={saveCard} onChange={setSaveCard}>
          Save the card for automatic top-ups
        </Checkbox>
      </div>
      {fault?.signedOut ? <SignInAgain /> : null}
      <div>
        <Button type="submit" tone="primary" disabled={pending}>
          {pending ? 'Opening the payment page…' : 'Continue to payment'}
        </Button>
      </div>
    </Form>
  );
}
