'use client';

import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { Form } from '#components/form/form';
import { useTyped } from '#components/form/use-typed';
import { Button } from '#components/ui/button';
import { Field, labelStyle } from '#components/ui/field';
import { NativeSelect } from '#components/ui/native-select';
import { changedOf } from '#lib/console/changed';

interface BudgetFormProps {
  workspace: string;
  /** Dollars as a decimal string; null: no budget. */
  budget: string | null;
  mode: string;
  send(workspace: string, input: unknown): Promise<FormAnswer<unknown>>;
}

const modes = [
  { value: 'warning', label: 'Only warn' },
  { value: 'hard', label: 'Refuse calls' },
];

/** The amount that a workspace may spend in a month, and what happens then; an empty amount means no budget. */
export function BudgetForm({ workspace, budget, mode, send }: BudgetFormProps) {
  const router = useRouter();
  const [text, setText, box] = useTyped<HTMLInputElement>(budget ?? '');
  const [chosen, setChosen] = useState(mode);
  const [saved, setSaved] = useState(false);
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();

  function submit(data: FormData) {
    const given = String(data.get('budget') ?? '').trim();
    startTransition(async () => {
      const answer = await orNoAnswer(
        send(workspace, changedOf({ budget: given, budgetMode: chosen }, { budget, budgetMode: mode })),
      );
      setSaved(answer.ok);
      setFault(answer.ok ? null : answer);
      if (answer.ok) router.refresh();
    });
  }

  return (
    <Form onSend={submit} noValidate className="grid max-w-xl gap-3">
      <div className="grid items-start gap-3 sm:grid-cols-2">
        <Field
          label="Budget for each month"
          ref={box}
          name="budget"
          prefix="$"
          inputMode="decimal"
          autoComplete="off"
          placeholder="No budget"
          value={text}
          onValueChange={(value) => {
            setText(String(value));
            setSaved(false);
          }}
          error={fault?.message}
        />
        <div className="grid gap-1.5">
          <span className={labelStyle}>When it is used up</span>
          <NativeSelect
            label="When it is used up"
            value={chosen}
            options={modes}
            onChange={(value) => {
              setChosen(value);
              setSaved(false);
            }}
          />
        </div>
      </div>
      <p className="text-muted text-xs leading-5">
        Owners, admins and billing members get an email at 80% and at 100%. Calls that still run count with
        the most that they may cost.
      </p>
      {fault?.signedOut ? <SignInAgain /> : null}
      <div className="flex items-center gap-3">
        <Button type="submit" disabled={pending || (text.trim() === (budget ?? '') && chosen === mode)}>
          {pending ? 'Saving…' : 'Save budget'}
        </Button>
        <span role="status" className="text-muted text-xs">
          {saved ? 'Saved.' : ''}
        </span>
      </div>
    </Form>
  );
}
