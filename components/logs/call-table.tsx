import Link from 'next/link';
import { AnsweringModel } from '#components/logs/answering-model';
import { CallStatus } from '#components/logs/call-status';
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
  readonly tokensIn: string;
  readonly tokensOut: string;
  readonly cost: string;
  readonly exactCost: string;
  readonly latency: string;
  readonly firstByte: string | null;
  readonly keyName: string;
}

/** @param zone printed over the times: "Asia/Kolkata, UTC+05:30". */
export function CallTable({ calls, zone }: { calls: readonly CallRow[]; zone: string }) {
  return (
    <Table label="Calls">
      <thead>
        <tr>
          <HeadCell>
            Time <span className="font-normal">({zone})</span>
          </HeadCell>
          <HeadCell>Status</HeadCell>
          <HeadCell>Model and provider</HeadCell>
          <HeadCell className="text-right">Tokens</HeadCell>
          <HeadCell className="text-right">Cost</HeadCell>
          <HeadCell className="text-right">Latency</HeadCell>
          <HeadCell>Key</HeadCell>
          <HeadCell>Request id</HeadCell>
        </tr>
      </thead>
      <tbody>
        {calls.map((call) => (
          <CallTableRow key={call.id} call={call} />
        ))}
      </tbody>
    </Table>
  );
}

function CallTableRow({ call }: { call: CallRow }) {
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
        <time dateTime={call.isoTime} title={`${call.isoTime} (UTC)`} className="block text-muted text-xs">
          {call.ago}
        </time>
      </Cell>
      <Cell>
        <CallStatus status={call.status} errorCode={call.errorCode} endReason={call.endReason} />
      </Cell>
      <Cell className="min-w-48">
        <AnsweringModel {...call} />
      </Cell>
      <Cell className="whitespace-nowrap text-right tabular-nums">
        {call.tokensIn} <span className="text-muted text-xs">in</span>
        <span className="block">
          {call.tokensOut} <span className="text-muted text-xs">out</span>
        </span>
      </Cell>
      <Cell className="whitespace-nowrap text-right tabular-nums" title={`$${call.exactCost}`}>
        {call.cost}
      </Cell>
      <Cell className="whitespace-nowrap text-right tabular-nums">
        {call.latency}
        {call.firstByte ? (
          <span className="block text-muted text-xs">{call.firstByte} to first byte</span>
        ) : null}
      </Cell>
      <Cell>
        <span className="block max-w-28 truncate" title={call.keyName}>
          {call.keyName}
        </span>
      </Cell>
      <Cell className="whitespace-nowrap">
        <span className="flex items-center gap-1">
          <code className="font-mono text-muted text-xs" title={call.id}>
            {call.id.slice(0, 8)}…{call.id.slice(-6)}
          </code>
          <span className="relative z-10">
            <CopyButton value={call.id} what="request id" />
          </span>
        </span>
      </Cell>
    </Row>
  );
}
