'use client';

import Link from 'next/link';
import { type FormEvent, useId, useState, useTransition } from 'react';
import { type FormAnswer, noAnswer } from '#components/form/answer';
import { FaultLine } from '#components/form/fault';
import { Button } from '#components/ui/button';
import { Input } from '#components/ui/input';
import { showCount } from '#lib/core/show-money';

/** Calls in which a text was found, and how far the search came. */
export interface FoundCalls {
  readonly data: readonly {
    readonly id: string;
    readonly when: string;
    readonly requestedModel: string | null;
    readonly side: 'request' | 'answer';
    readonly before: string;
    readonly match: string;
    readonly after: string;
  }[];
  readonly read: number;
  readonly unreadable: number;
  /** null: all calls were read. */
  readonly next: string | null;
}

interface SearchContentProps {
  workspace: string;
  /** The filters of the log, as input of the operation. */
  filters: Readonly<Record<string, unknown>>;
  /** Why the visitor may not read content; null: they may. */
  locked: string | null;
  search(workspace: string, input: unknown): Promise<FormAnswer<FoundCalls>>;
}

type Shown = FoundCalls & { readonly text: string };

/** Searches when someone asks for it, since each search is recorded. The text is never in the address. */
export function SearchContent({ workspace, filters, locked, search }: SearchContentProps) {
  const [shown, setShown] = useState<Shown | null>(null);
  const [fault, setFault] = useState<{ message: string; signedOut: boolean } | null>(null);
  const [pending, startTransition] = useTransition();
  const textId = useId();

  /** @param earlier what was found before, if older calls are searched. */
  function find(text: string, earlier: Shown | null) {
    startTransition(async () => {
      const after = earlier?.next ? { after: earlier.next } : {};
      const answer = await search(workspace, { ...filters, ...after, text }).catch(() => null);
      setFault(answer?.ok ? null : (answer ?? { message: noAnswer, signedOut: false }));
      if (!answer?.ok) return;
      const { data, read, unreadable, next } = answer.value;
      setShown({
        text,
        data: [...(earlier?.data ?? []), ...data],
        read: (earlier?.read ?? 0) + read,
        unreadable: (earlier?.unreadable ?? 0) + unreadable,
        next,
      });
    });
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    find(String(new FormData(event.currentTarget).get('text') ?? '').trim(), null);
  }

  if (locked) return <p className="text-muted leading-5">{locked}</p>;
  return (
    <>
      <form
        method="post"
        aria-label="Search"
        className="grid gap-3 rounded-lg border bg-surface p-4"
        onSubmit={submit}
      >
        <label className="grid gap-1 text-xs" htmlFor={textId}>
          Text
          <Input id={textId} name="text" maxLength={200} required autoComplete="off" />
        </label>
        <div className="flex flex-wrap items-center gap-3">
          <Button type="submit" tone="primary" disabled={pending}>
            {pending ? 'Searching…' : 'Search'}
          </Button>
          <p className="text-muted text-xs">The audit log records the search, but not its text.</p>
        </div>
        <FaultLine fault={fault} />
      </form>
      {shown ? (
        <section aria-label="Found calls" aria-busy={pending} className="rounded-lg border bg-surface">
          <p role="status" className="border-b px-4 py-2.5 text-muted text-xs leading-5">
            {summaryOf(shown)}
          </p>
          {shown.data.length > 0 ? (
            <ol className="divide-y">
              {shown.data.map((call) => (
                <FoundCall key={call.id} workspace={workspace} call={call} />
              ))}
            </ol>
          ) : null}
          {shown.next === null ? null : (
            <div className="border-t px-4 py-3">
              <Button disabled={pending} onClick={() => find(shown.text, shown)}>
                {pending ? 'Searching…' : 'Search older calls'}
              </Button>
            </div>
          )}
        </section>
      ) : null}
    </>
  );
}

function summaryOf({ data, read, unreadable, next, text }: Shown): string {
  const found = `“${text}” was found in ${showCount(data.length)} of ${showCount(read)} calls.`;
  const sealed =
    unreadable === 0
      ? ''
      : ` ${showCount(unreadable)} could not be read: add the key they were sealed with to ENCRYPTION_KEY_OLD.`;
  return `${found}${sealed}${next === null ? '' : ' Older calls were not searched yet.'}`;
}

function FoundCall({ workspace, call }: { workspace: string; call: FoundCalls['data'][number] }) {
  const { id, when, requestedModel, side, before, match, after } = call;
  return (
    <li className="grid min-w-0 gap-1 px-4 py-3">
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-3 text-muted text-xs leading-5">
        <Link href={`/${workspace}/logs/${id}`} className="text-ink underline underline-offset-2">
          {when}
        </Link>
        {requestedModel === null ? null : <span className="[overflow-wrap:anywhere]">{requestedModel}</span>}
        <span>{side === 'request' ? 'In the request' : 'In the answer'}</span>
      </p>
      <p className="min-w-0 leading-5 [overflow-wrap:anywhere]">
        {before}
        <mark className="rounded-xs bg-warn-soft text-warn">{match}</mark>
        {after}
      </p>
    </li>
  );
}
