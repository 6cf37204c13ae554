'use client';

import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { leaveSeed, playgroundHref } from '#components/playground/seed';
import { Button, buttonStyle } from '#components/ui/button';
import { CopyButton } from '#components/ui/copy-button';
import type { ContentPart, ContentRows, ContentTurn } from '#lib/console/content/rows';

interface CallContentProps {
  workspace: string;
  call: string;
  show(workspace: string, input: unknown): Promise<FormAnswer<ContentRows>>;
}

/** What a call was asked and answered; it is read only when someone asks for it, since each reading is recorded. */
export function CallContent({ workspace, call, show }: CallContentProps) {
  const router = useRouter();
  const [rows, setRows] = useState<ContentRows | null>(null);
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();

  /** Reads the content once, shows it, and goes on with it. */
  function open(then?: (read: ContentRows) => void) {
    startTransition(async () => {
      const answer = rows
        ? { ok: true as const, value: rows }
        : await show(workspace, { id: call }).catch(() => null);
      if (answer?.ok) setRows(answer.value);
      setFault(answer?.ok ? null : (answer ?? { message: noAnswer, signedOut: false }));
      if (answer?.ok) then?.(answer.value);
    });
  }

  function tryAgain({ playground }: ContentRows) {
    if ('reason' in playground) {
      setFault({ message: playground.reason, signedOut: false });
      return;
    }
    leaveSeed(playground.seed);
    router.push(playgroundHref(workspace, playground.seed));
  }

  const actions = (
    <>
      <Button size="small" disabled={pending} onClick={() => open(tryAgain)}>
        Open in playground
      </Button>
      <Link href={`/${workspace}/logs/compare?one=${call}`} className={buttonStyle({ size: 'small' })}>
        Compare
      </Link>
    </>
  );
  if (rows)
    return (
      <div className="grid min-w-0">
        <div className="flex flex-wrap items-center gap-2 px-4 pt-3">
          {rows.curl === null ? null : (
            <CopyButton value={rows.curl} what="request as curl" text="Copy as curl" tone="plain" />
          )}
          {actions}
        </div>
        {rows.curl === null ? null : (
          <p className="px-4 pt-2 text-muted text-xs leading-5">
            The command reads the key from MODEL_GATEWAY_KEY. Data that was not kept is missing in it.
          </p>
        )}
        {fault ? (
          <p role="alert" className="px-4 pt-2 text-muted leading-5">
            {fault.message}
          </p>
        ) : null}
        <Conversation rows={rows} />
      </div>
    );
  return (
    <div className="grid justify-items-start gap-2 px-4 py-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => open()} disabled={pending}>
          {pending ? 'Reading…' : 'Show request and answer'}
        </Button>
        {actions}
        <p className="text-muted text-xs">The audit log records that you read it.</p>
      </div>
      <FaultLine fault={fault} />
    </div>
  );
}

function Conversation({ rows: { turns, request, answer } }: { rows: ContentRows }) {
  return (
    <div className="grid min-w-0 gap-4 p-4">
      {turns.length > 0 ? (
        <ol
          ref={takeFocus}
          tabIndex={-1}
          aria-label="Conversation"
          className="grid min-w-0 gap-4 outline-none"
        >
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

/** The button that was pressed is gone: the keyboard goes on where the conversation begins. */
function takeFocus(list: HTMLOListElement | null): void {
  list?.focus({ preventScroll: true });
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
