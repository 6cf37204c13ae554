'use client';

import { useRouter } from 'next/navigation';
import { useId, useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { type CallVerdict, Verdict } from '#components/logs/verdict';
import { Button } from '#components/ui/button';
import { Input, inputStyle } from '#components/ui/input';

/** The feedback of a call, ready to read. */
export interface CallFeedbackRow extends CallVerdict {
  /** null: there is none, or the visitor may not read it. */
  readonly text: string | null;
  readonly source: string;
  readonly written: string;
}

interface CallFeedbackProps {
  workspace: string;
  call: string;
  /** null: nothing was said yet. */
  feedback: CallFeedbackRow | null;
  /** Why the visitor may not write feedback; null: they may. */
  locked: string | null;
  send(workspace: string, input: unknown): Promise<FormAnswer<unknown>>;
}

/** What was said about the answer, and a form to say it. */
export function CallFeedback({ workspace, call, feedback, locked, send }: CallFeedbackProps) {
  const router = useRouter();
  const [writing, setWriting] = useState(false);
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();
  const [labelId, textId] = [useId(), useId()];

  function submit(data: FormData, score: '1' | '0') {
    const given = (name: string) => {
      const text = String(data.get(name) ?? '').trim();
      return text === '' ? {} : { [name]: text };
    };
    startTransition(async () => {
      const input = { id: call, score, ...given('label'), ...given('text') };
      const answer = await send(workspace, input).catch(() => null);
      setFault(answer?.ok ? null : (answer ?? { message: noAnswer, signedOut: false }));
      if (!answer?.ok) return;
      setWriting(false);
      router.refresh();
    });
  }

  return (
    <div className="grid min-w-0 gap-3 px-4 py-3">
      {feedback ? (
        <div className="grid min-w-0 gap-1.5">
          <Verdict {...feedback} />
          {feedback.text ? (
            <p dir="auto" className="whitespace-pre-wrap leading-6 [overflow-wrap:anywhere]">
              {feedback.text}
            </p>
          ) : null}
          <p className="text-muted text-xs">
            {feedback.source}, {feedback.written}
          </p>
        </div>
      ) : (
        <p className="text-muted leading-5">
          No feedback yet. Your app can send it to <code>/api/v1/calls/{'{id}'}/feedback</code> with the key
          of the call.
        </p>
      )}
      {locked ? <p className="text-muted text-xs leading-5">{locked}</p> : null}
      {!locked && !writing ? (
        <Button size="small" className="justify-self-start" onClick={() => setWriting(true)}>
          {feedback ? 'Replace feedback' : 'Write feedback'}
        </Button>
      ) : null}
      {writing ? (
        <form
          aria-label="Feedback"
          className="grid max-w-xl gap-3"
          onSubmit={(event) => {
            event.preventDefault();
            const pressed = (event.nativeEvent as SubmitEvent).submitter;
            submit(new FormData(event.currentTarget), pressed?.getAttribute('value') === '0' ? '0' : '1');
          }}
        >
          <label className="grid gap-1 text-xs" htmlFor={labelId}>
            Label (optional)
            <Input id={labelId} name="label" maxLength={64} placeholder="wrong answer" />
          </label>
          <label className="grid gap-1 text-xs" htmlFor={textId}>
            Text (optional)
            <textarea
              id={textId}
              name="text"
              rows={3}
              maxLength={4000}
              className={`${inputStyle} h-auto py-1.5 leading-6`}
            />
          </label>
          <div className="flex flex-wrap gap-2">
            <Button type="submit" value="1" disabled={pending}>
              Good answer
            </Button>
            <Button type="submit" value="0" disabled={pending}>
              Bad answer
            </Button>
            <Button tone="quiet" disabled={pending} onClick={() => setWriting(false)}>
              Cancel
            </Button>
          </div>
        </form>
      ) : null}
      <FaultLine fault={fault} />
    </div>
  );
}
