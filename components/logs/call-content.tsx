'use client';

import { useState, useTransition } from 'react';
import { SignInAgain } from '#components/account/sign-in-again';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { Button } from '#components/ui/button';
import { CopyButton } from '#components/ui/copy-button';
import type { ContentPart, ContentRows, ContentTurn } from '#lib/console/content/rows';

interface CallContentProps {
  workspace: string;
  call: string;
  show(workspace: string, input: unknown): Promise<FormAnswer<ContentRows>>;
}

/** What a call was asked and answered; it is read only when someone asks for it, since each reading is recorded. */
export function CallContent({ workspace, call, show }: CallContentProps) {
  const [rows, setRows] = useState<ContentRows | null>(null);
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();

  function open() {
    startTransition(async () => {
      const answer = await show(workspace, { id: call }).catch(() => null);
      if (answer?.ok) setRows(answer.value);
      setFault(answer?.ok ? null : (answer ?? { message: noAnswer, signedOut: false }));
    });
  }

  if (rows) return <Conversation rows={rows} />;
  return (
    <div className="grid justify-items-start gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={open} disabled={pending}>
          {pending ? 'Reading…' : 'Show request and answer'}
        </Button>
        <p className="text-muted text-xs">The audit log records that you read it.</p>
      </div>
      {fault ? (
        <p role="alert" className="text-muted leading-5">
          {fault.message}
          {fault.signedOut ? <SignInAgain /> : null}
        </p>
      ) : null}
    </div>
  );
}

function Conversation({ rows: { turns, request, answer } }: { rows: ContentRows }) {
  return (
    <div className="grid min-w-0 gap-4 p-4">
      {turns.length > 0 ? (
        <ol aria-label="Conversation" className="grid min-w-0 gap-4">
          {turns.map((turn) => (
            <Turn key={turn.id} turn={turn} />
          ))}
        </ol>
      ) : (
        <p className="text-muted">This call is not a conversation that can be shown in turns.</p>
      )}
      <Body title="Request as it was sent" {...request} open={turns.length === 0} />
      <Body title="Answer as it was sent" {...answer} open={turns.length === 0} />
    </div>
  );
}

function Turn({ turn: { who, parts } }: { turn: ContentTurn }) {
  return (
    <li className="grid min-w-0 gap-1.5 sm:grid-cols-[6rem_1fr] [content-visibility:auto] [contain-intrinsic-size:auto_6rem]">
      <p className="font-medium text-muted text-xs leading-6">{who}</p>
      <div className="grid min-w-0 gap-2">
        {parts.map((part) => (
          <Part key={part.id} part={part} />
        ))}
      </div>
    </li>
  );
}

const titles: Readonly<Partial<Record<ContentPart['kind'], string>>> = {
  thinking: 'Reasoning',
  'tool-call': 'Calls',
  'tool-result': 'Result of',
};

function Part({ part: { kind, name, text } }: { part: ContentPart }) {
  const title = titles[kind];
  if (title) {
    const long = kind !== 'tool-call';
    return (
      <details open={!long} className="min-w-0 rounded-md border bg-sunken px-3 py-2">
        <summary className="cursor-pointer text-muted text-xs">
          {title} {name ? <code className="text-ink">{name}</code> : null}
        </summary>
        <pre className="overflow-x-auto whitespace-pre-wrap pt-2 text-xs leading-5 [overflow-wrap:anywhere]">
          {text}
        </pre>
      </details>
    );
  }
  if (kind === 'file' || kind === 'note') return <p className="text-muted text-xs leading-5">{text}</p>;
  return (
    <p
      dir="auto"
      className={`whitespace-pre-wrap leading-6 [overflow-wrap:anywhere] ${kind === 'error' ? 'text-bad' : ''}`}
    >
      {text}
    </p>
  );
}

function Body({ title, text, size, open }: { title: string; text: string; size: string; open: boolean }) {
  return (
    <details open={open} className="min-w-0 rounded-md border">
      <summary className="cursor-pointer px-3 py-2 text-[0.8125rem]">
        {title} <span className="text-muted text-xs">{size}</span>
      </summary>
      <div className="relative border-t">
        <div className="absolute top-2 right-2">
          <CopyButton value={text} what={title.toLowerCase()} />
        </div>
        <pre className="max-h-96 overflow-auto whitespace-pre-wrap p-3 text-xs leading-5 [overflow-wrap:anywhere]">
          {text}
        </pre>
      </div>
    </details>
  );
}
