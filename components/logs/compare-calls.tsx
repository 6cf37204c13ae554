'use client';

import Link from 'next/link';
import { type FormEvent, useId, useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { Section } from '#components/section';
import { Button } from '#components/ui/button';
import { Input } from '#components/ui/input';
import type { ComparedPart, ComparedRun } from '#lib/console/content/compare';
import { showCount } from '#lib/core/show-money';

interface CompareCallsProps {
  workspace: string;
  /** Request ids; empty: not chosen yet. */
  one: string;
  other: string;
  /** Why the visitor may not read content; null: they may. */
  locked: string | null;
  compare(workspace: string, input: unknown): Promise<FormAnswer<readonly ComparedPart[]>>;
}

/** Reads two calls when someone asks for it, since each reading is recorded, and shows how they differ. */
export function CompareCalls({ workspace, one, other, locked, compare }: CompareCallsProps) {
  const [shown, setShown] = useState<{ parts: readonly ComparedPart[]; one: string; other: string } | null>(
    null,
  );
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();
  const [oneId, otherId] = [useId(), useId()];

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const input = {
      one: String(data.get('one') ?? '').trim(),
      other: String(data.get('other') ?? '').trim(),
    };
    startTransition(async () => {
      const answer = await compare(workspace, input).catch(() => null);
      setFault(answer?.ok ? null : (answer ?? { message: noAnswer, signedOut: false }));
      if (answer?.ok) setShown({ parts: answer.value, ...input });
    });
  }

  if (locked) return <p className="text-muted leading-5">{locked}</p>;
  return (
    <>
      <form aria-label="Calls" className="grid gap-3 rounded-lg border bg-surface p-4" onSubmit={submit}>
        <div className="grid gap-3 sm:grid-cols-2">
          <label className="grid gap-1 text-xs" htmlFor={oneId}>
            First call
            <Input
              id={oneId}
              name="one"
              defaultValue={one}
              placeholder="Request id"
              className="font-mono text-xs"
              required
            />
          </label>
          <label className="grid gap-1 text-xs" htmlFor={otherId}>
            Second call
            <Input
              id={otherId}
              name="other"
              defaultValue={other}
              placeholder="Request id"
              className="font-mono text-xs"
              required
            />
          </label>
        </div>
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" tone="primary" disabled={pending}>
            {pending ? 'Reading…' : 'Compare'}
          </Button>
          <p className="text-muted text-xs">The audit log records that you read both calls.</p>
        </div>
        <FaultLine fault={fault} />
      </form>
      {shown ? (
        <>
          <p className="text-muted text-xs leading-5">
            Lines with − are only in <CallLink workspace={workspace} id={shown.one} />, lines with + only in{' '}
            <CallLink workspace={workspace} id={shown.other} />.
          </p>
          {shown.parts.map(({ title, runs, equal }) => (
            <Section key={title} title={title} note={equal ? 'No difference' : null}>
              {runs === null ? (
                <p className="px-4 py-3 text-muted leading-5">
                  These are too long and too different to compare. Open both calls instead.
                </p>
              ) : (
                <div className="max-h-[70vh] overflow-auto py-2 font-mono text-xs leading-5">
                  {runs.map((run) => (
                    <Run key={run.id} run={run} />
                  ))}
                </div>
              )}
            </Section>
          ))}
        </>
      ) : null}
    </>
  );
}

function CallLink({ workspace, id }: { workspace: string; id: string }) {
  return (
    <Link href={`/${workspace}/logs/${encodeURIComponent(id)}`} className="underline underline-offset-2">
      <code>
        {id.slice(0, 8)}…{id.slice(-6)}
      </code>
    </Link>
  );
}

const looks = {
  same: { sign: ' ', className: '' },
  removed: { sign: '−', className: 'bg-bad-soft text-bad' },
  added: { sign: '+', className: 'bg-good-soft text-good' },
} as const;

function Run({ run: { kind, count, lines } }: { run: ComparedRun }) {
  if (kind === 'skipped')
    return <p className="bg-sunken px-4 py-1 font-sans text-muted">{showCount(count)} equal lines</p>;
  const { sign, className } = looks[kind];
  const Tag = kind === 'same' ? 'div' : kind === 'added' ? 'ins' : 'del';
  return (
    <Tag className={`block no-underline ${className}`}>
      {numbered(lines).map(({ id, text }) => (
        <span key={id} className="grid grid-cols-[1.25rem_minmax(0,1fr)] px-4">
          <span aria-hidden>{sign}</span>
          <span className="whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</span>
        </span>
      ))}
    </Tag>
  );
}

function numbered(lines: readonly string[]): { id: number; text: string }[] {
  return lines.map((text, id) => ({ id, text }));
}
