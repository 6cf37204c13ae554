import { Fragment, type ReactNode } from 'react';
import { AnsweringModel } from '#components/logs/answering-model';
import { describeStatus, StatusCode } from '#components/logs/call-status';
import { type CallVerdict, Verdict } from '#components/logs/verdict';
import { CopyButton } from '#components/ui/copy-button';
import type { CallColumn } from '#lib/console/columns';

/** A call in the list; times and amounts are formatted for display. */
export interface CallRow {
  readonly id: string;
  readonly href: string;
  readonly time: string;
  readonly ago: string;
  readonly isoTime: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly endReason: string;
  readonly requested: string | null;
  readonly answering: string | null;
  readonly provider: string | null;
  readonly attempts: number;
  readonly operation: string;
  readonly streamed: boolean;
  /** null: nothing was used. */
  readonly tokens: { readonly in: string; readonly out: string } | null;
  /** Output tokens per second; null: it was not streamed, or too short to measure. */
  readonly speed: string | null;
  readonly cost: string;
  readonly exactCost: string;
  readonly latency: string;
  readonly firstByte: string | null;
  readonly keyId: string;
  readonly keyName: string;
  readonly clientRequestId: string | null;
  readonly feedback: CallVerdict | null;
  readonly endUser: string | null;
  /** "feature=search" */
  readonly tags: readonly string[];
  /** Whether an own key answered, or the operator's credential in its place. */
  readonly ownKey: 'answered' | 'fallback' | null;
  /** Whether it was answered again for its `Idempotency-Key`, or from the cache. */
  readonly repeat: 'repeat' | 'cache' | null;
}

interface CallColumnLook {
  /** Where a phone shows it; without it as a detail under its name. */
  readonly place?: 'figure' | 'state' | 'aside' | 'whole';
  /** What the log is ranked by with it. */
  readonly sort?: string;
  readonly headClass?: string;
  readonly cellClass?: string;
  title?(call: CallRow): string;
  show(call: CallRow): ReactNode;
}

const aNumber = { headClass: 'text-right', cellClass: 'whitespace-nowrap text-right tabular-nums' };
const nothing = <span className="text-muted">none</span>;

/** The columns of a call after its time. */
export const columnLooks: Readonly<Record<CallColumn, CallColumnLook>> = {
  status: {
    place: 'state',
    show: (call) => (
      <>
        <StatusCode {...call} />
        <span className="mt-0.5 block max-w-36 pl-0.5 text-muted text-xs leading-4">
          <Breakable text={describeStatus(call).text} />
        </span>
      </>
    ),
  },
  model: {
    place: 'whole',
    cellClass: 'min-w-40 sm:min-w-48',
    show: (call) => <AnsweringModel {...call} />,
  },
  operation: {
    cellClass: 'whitespace-nowrap',
    show: (call) => (
      <>
        {call.operation}
        <span className="block text-muted text-xs">{call.streamed ? 'streamed' : 'not streamed'}</span>
      </>
    ),
  },
  tokens: {
    sort: 'tokens',
    ...aNumber,
    show: ({ tokens }) =>
      tokens ? (
        <>
          {tokens.in} <span className="text-muted text-xs">in</span>
          <span className="block text-muted text-xs">{tokens.out} out</span>
        </>
      ) : (
        nothing
      ),
  },
  speed: {
    ...aNumber,
    show: ({ speed }) =>
      speed ? (
        <>
          {speed} <span className="text-muted text-xs">tokens/s</span>
        </>
      ) : (
        nothing
      ),
  },
  cost: {
    sort: 'cost',
    place: 'figure',
    ...aNumber,
    title: (call) => `$${call.exactCost}`,
    show: (call) => call.cost,
  },
  latency: {
    sort: 'latency',
    place: 'aside',
    ...aNumber,
    show: ({ latency, firstByte }) => (
      <>
        {latency}
        {firstByte ? <span className="block text-muted text-xs">{firstByte} first byte</span> : null}
      </>
    ),
  },
  key: {
    cellClass: 'whitespace-nowrap',
    show: ({ keyName, id }) => (
      <>
        <span dir="auto" className="block max-w-40 truncate" title={keyName}>
          {keyName}
        </span>
        <span className="flex items-center gap-1">
          <code className="font-mono text-muted text-xs" title={id}>
            {id.slice(0, 8)}…{id.slice(-6)}
          </code>
          <span className="relative z-10 -my-1">
            <CopyButton value={id} what="request id" />
          </span>
        </span>
      </>
    ),
  },
  feedback: {
    cellClass: 'max-w-48',
    show: ({ feedback }) => (feedback ? <Verdict {...feedback} /> : nothing),
  },
  tags: {
    cellClass: 'max-w-56',
    show: ({ endUser, tags }) =>
      endUser === null && tags.length === 0 ? (
        nothing
      ) : (
        <>
          {endUser === null ? null : (
            <span className="block truncate" title={endUser}>
              {endUser}
            </span>
          )}
          <code className="block truncate font-mono text-muted text-xs" title={tags.join(', ')}>
            {tags.join(', ')}
          </code>
        </>
      ),
  },
  clientId: {
    show: ({ clientRequestId }) =>
      clientRequestId ? (
        <code className="block max-w-48 truncate font-mono text-xs" title={clientRequestId}>
          {clientRequestId}
        </code>
      ) : (
        nothing
      ),
  },
};

/** A code with underscores, which may wrap after each of them. */
export function Breakable({ text }: { text: string }) {
  const words = text.split('_');
  return words.map((word, index) =>
    index === words.length - 1 ? (
      word
    ) : (
      <Fragment key={words.slice(0, index + 1).join('_')}>
        {word}_<wbr />
      </Fragment>
    ),
  );
}
