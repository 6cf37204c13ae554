'use client';

import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { useChange } from '#components/form/use-change';
import { Button } from '#components/ui/button';

interface SureButtonProps {
  /** Button text; screen readers add what it affects. */
  label: string;
  affects?: string;
  /** Confirmation shown in place of the button; null: one click is enough. */
  question: string | null;
  danger?: boolean;
  disabled?: boolean;
  /** Slug of the workspace; '' for the gateway. */
  workspace?: string;
  input: Readonly<Record<string, unknown>>;
  done: string;
  act(workspace: string, input: Readonly<Record<string, unknown>>): Promise<FormAnswer<unknown>>;
}

/** A button that asks for confirmation in the same place if needed. */
export function SureButton(props: SureButtonProps) {
  const {
    label,
    affects,
    question,
    danger = false,
    disabled = false,
    workspace = '',
    input,
    done,
    act,
  } = props;
  /** null: not asked yet, so that the button does not take the focus. */
  const [asked, setAsked] = useState<boolean | null>(null);
  const { pending, make } = useChange();
  const go = () => {
    setAsked(false);
    make(act(workspace, input), done);
  };
  if (asked && question !== null) {
    return (
      <fieldset aria-label={question} className="flex flex-wrap items-center gap-2">
        <span className="text-[0.8125rem] leading-5">{question}</span>
        <Button size="small" tone={danger ? 'danger' : 'primary'} onClick={go} autoFocus>
          {label}
        </Button>
        <Button size="small" onClick={() => setAsked(false)}>
          Cancel
        </Button>
      </fieldset>
    );
  }
  return (
    <Button
      size="small"
      disabled={pending || disabled}
      autoFocus={asked === false}
      onClick={() => (question === null ? go() : setAsked(true))}
    >
      {pending ? 'One moment…' : label}
      {affects ? <span className="sr-only"> {affects}</span> : null}
    </Button>
  );
}
