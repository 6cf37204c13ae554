import Link from 'next/link';
import type { ReactNode } from 'react';
import type { Run } from '#components/playground/run';
import { CopyButton } from '#components/ui/copy-button';
import { showSpan } from '#lib/console/show/time';

interface RunFactsProps {
  run: Run;
  /** Slug. */
  workspace: string;
}

/** The provider, the timing and the cost of a call, with a link to the log. */
export function RunFacts({ run, workspace }: RunFactsProps) {
  const { head, figures, firstByteMs, state } = run;
  if (!head) return null;
  const tries = Number(head.attempts ?? 0);
  const firstByte = figures?.firstByte ?? (firstByteMs === null ? null : showSpan(firstByteMs));
  const facts: { name: string; value: ReactNode }[] = [
    ...(head.model ? [{ name: 'Answered by', value: head.model }] : []),
    ...(head.provider ? [{ name: 'Provider', value: head.provider }] : []),
    ...(tries > 0 ? [{ name: 'Attempts', value: tries }] : []),
    ...(firstByte ? [{ name: 'First byte', value: firstByte }] : []),
    ...(figures ? [{ name: 'Latency', value: figures.latency }] : []),
    ...(figures?.tokens
      ? [{ name: 'Tokens', value: `${figures.tokens.in} in, ${figures.tokens.out} out` }]
      : []),
    { name: 'Cost', value: costOf(run) },
  ];
  return (
    <div className="grid min-w-0 gap-1.5 border-t pt-2.5 text-xs">
      <dl className="flex flex-wrap gap-x-4 gap-y-1">
        {facts.map(({ name, value }) => (
          <div key={name} className="flex min-w-0 items-baseline gap-1.5">
            <dt className="text-muted">{name}</dt>
            <dd className="min-w-0 font-medium tabular-nums [overflow-wrap:anywhere]">{value}</dd>
          </div>
        ))}
      </dl>
      {head.requestId ? (
        <p className="flex min-w-0 items-center gap-1 text-muted">
          {figures || state !== 'running' ? (
            <Link
              href={`/${workspace}/logs/${head.requestId}`}
              prefetch={false}
              className="min-w-0 truncate font-mono underline decoration-line-strong underline-offset-2 hover:text-ink"
            >
              {head.requestId}
            </Link>
          ) : (
            <span className="min-w-0 truncate font-mono">{head.requestId}</span>
          )}
          <CopyButton value={head.requestId} what="request id" />
        </p>
      ) : null}
    </div>
  );
}

function costOf({ figures, state, job }: Run): ReactNode {
  if (figures?.cost) return <span title={`$${figures.exactCost}`}>{figures.cost}</span>;
  const waits = job && (state === 'running' || figures) ? 'charged when it ends' : 'being counted';
  return <span className="font-normal text-muted">{waits}</span>;
}
