import Link from 'next/link';
import { Fragment } from 'react';
import { AnsweringModel } from '#components/logs/answering-model';
import { describeStatus, StatusCode } from '#components/logs/call-status';
import { CopyButton } from '#components/ui/copy-button';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';

/** One call of the list; times and money are ready to read. */
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
  /** null: nothing was used. */
  readonly tokens: { readonly in: string; readonly out: string } | null;
  readonly cost: string;
  readonly exactCost: string;
  readonly latency: string;
  readonly firstByte: string | null;
  readonly keyName: string;
}

interface CallTableProps {
  calls: readonly CallRow[];
  /** Ids of those that came while the page was open. */
  fresh?: ReadonlySet<string>;
}

export function CallTable({ calls, fresh }: CallTableProps) {
  return (
    <Table label="Calls">
      <thead>
        <tr>
          <HeadCell>Time</HeadCell>
          <HeadCell>Status</HeadCell>
          <HeadCell>Model and provider</HeadCell>
          <HeadCell className="text-right">Tokens</HeadCell>
          <HeadCell className="text-right">Cost</HeadCell>
          <HeadCell className="text-right">Latency</HeadCell>
          <HeadCell>Key and request id</HeadCell>
        </tr>
      </thead>
      <tbody>
        {calls.map((call) => (
          <CallTableRow key={call.id} call={call} fresh={fresh?.has(call.id) ?? false} />
        ))}
      </tbody>
    </Table>
  );
}

/** A code in words joined by underscores, which may end a line after each of them. */
function Breakable({ text }: { text: string }) {
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

function CallTableRow({ call, fresh }: { call: CallRow; fresh: boolean }) {
  return (
    <Row className="relative">
      <Cell className="whitespace-nowrap">
        <Link
          href={call.href}
          prefetch={false}
          className="font-medium tabular-nums after:absolute after:inset-0 hover:underline"
        >
          {call.time}
        </Link>
        {fresh ? (
          <span className="ml-1.5 rounded-sm bg-accent-soft px-1 font-medium text-[0.6875rem] text-accent-ink">
            new
          </span>
        ) : null}
        <time dateTime={call.isoTime} title={`${call.isoTime} (UTC)`} className="block text-muted text-xs">
          {call.ago}
        </time>
      </Cell>
      <Cell>
        <StatusCode {...call} />
        <span className="mt-0.5 block max-w-36 pl-0.5 text-muted text-xs leading-4 max-sm:sr-only">
          <Breakable text={describeStatus(call).text} />
        </span>
      </Cell>
      <Cell className="min-w-40 sm:min-w-48">
        <AnsweringModel {...call} />
      </Cell>
      <Cell className="whitespace-nowrap text-right tabular-nums">
        {call.tokens ? (
          <>
            {call.tokens.in} <span className="text-muted text-xs">in</span>
            <span className="block text-muted text-xs">{call.tokens.out} out</span>
          </>
        ) : (
          <span className="text-muted">none</span>
        )}
      </Cell>
      <Cell className="whitespace-nowrap text-right tabular-nums" title={`$${call.exactCost}`}>
        {call.cost}
      </Cell>
      <Cell className="whitespace-nowrap text-right tabular-nums">
        {call.latency}
        {call.firstByte ? (
          <span className="block text-muted text-xs">{call.firstByte} first byte</span>
        ) : null}
      </Cell>
      <Cell className="whitespace-nowrap">
        <span className="block max-w-40 truncate" title={call.keyName}>
          {call.keyName}
        </span>
        <span className="flex items-center gap-1">
          <code className="font-mono text-muted text-xs" title={call.id}>
            {call.id.slice(0, 8)}…{call.id.slice(-6)}
          </code>
          <span className="relative z-10 -my-1">
            <CopyButton value={call.id} what="request id" />
          </span>
        </span>
      </Cell>
    </Row>
  );
}
