import { AnsweringModel } from '#components/logs/answering-model';
import type { CallRow } from '#components/logs/call-columns';
import { CallStatus } from '#components/logs/call-status';
import { CopyButton } from '#components/ui/copy-button';

/** The outcome of a call at a glance. @param zone of `row.time`: "Asia/Kolkata, UTC+05:30". */
export function CallHead({ row, zone }: { row: CallRow; zone: string }) {
  return (
    <header className="grid gap-3">
      <h1 className="sr-only">Call {row.id}</h1>
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-3">
        <div className="min-w-0 text-base">
          <AnsweringModel {...row} />
        </div>
        <CallStatus status={row.status} errorCode={row.errorCode} endReason={row.endReason} />
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-muted text-xs">
        <span className="flex min-w-0 items-center gap-1">
          <code className="break-all font-mono text-ink">{row.id}</code>
          <CopyButton value={row.id} what="request id" />
        </span>
        <time dateTime={row.isoTime} title={`${row.isoTime} (UTC)`}>
          {row.time} ({zone}), {row.ago}
        </time>
      </div>
    </header>
  );
}
