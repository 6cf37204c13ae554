import { Badge } from '#components/ui/badge';
import { classNames } from '#components/ui/class-names';
import { CopyButton } from '#components/ui/copy-button';

/** One attempt; durations are formatted for display, offsets are fractions of the whole call, 0 to 1. */
export interface AttemptRow {
  readonly provider: string;
  readonly model: string;
  readonly status: number | null;
  readonly error: string | null;
  readonly started: string;
  readonly lasted: string;
  readonly from: number;
  readonly width: number;
  readonly upstreamRequestId: string | null;
  readonly possibleDuplicate: boolean;
  /** The provider's error code and message; null: it sent none. */
  readonly providerCode: string | null;
  readonly providerMessage: string | null;
  /** The protocol that the provider was called in, if it is not the client's. */
  readonly translatedTo: string | null;
  /** Fields of the request that the translation left out. */
  readonly lost: readonly string[];
  /** Whether this attempt answered the client. */
  readonly answered: boolean;
}

function percent(part: number): string {
  return `${(Math.min(1, Math.max(0, part)) * 100).toFixed(2)}%`;
}

/** The providers that were called, in order, for how long, and why the next one was tried. */
export function AttemptTimeline({ attempts }: { attempts: readonly AttemptRow[] }) {
  return (
    <ol className="divide-y">
      {attempts.map((attempt, index) => (
        <li
          key={`${attempt.provider} ${attempt.started} ${attempt.from}`}
          className="grid gap-x-6 gap-y-2 px-4 py-3 md:grid-cols-[minmax(0,15rem)_1fr]"
        >
          <div className="flex min-w-0 gap-2.5">
            <span className="mt-0.5 grid size-5 shrink-0 place-items-center rounded-full bg-hover text-muted text-xs tabular-nums">
              {index + 1}
            </span>
            <div className="min-w-0">
              <p className="break-words font-medium">{attempt.provider}</p>
              <p className="break-all text-muted text-xs">{attempt.model}</p>
            </div>
          </div>
          <div className="grid min-w-0 content-start gap-1.5">
            <svg aria-hidden className="h-2 w-full rounded-full bg-hover" preserveAspectRatio="none">
              <rect
                x={percent(attempt.from)}
                width={percent(attempt.width)}
                height="100%"
                rx="4"
                className={classNames('min-w-1', attempt.answered ? 'fill-accent' : 'fill-bad')}
              />
            </svg>
            <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
              <Badge tone={attempt.answered ? 'good' : 'bad'}>{attempt.status ?? 'no answer'}</Badge>
              {attempt.error ? (
                <span className="min-w-0 text-bad [overflow-wrap:anywhere]">{attempt.error}</span>
              ) : null}
              <span className="tabular-nums">
                started at {attempt.started}, took {attempt.lasted}
              </span>
              {attempt.translatedTo ? <Badge tone="info">Translated to {attempt.translatedTo}</Badge> : null}
              {attempt.possibleDuplicate ? <Badge tone="warn">may have run twice</Badge> : null}
              {attempt.upstreamRequestId ? (
                <span className="flex min-w-0 items-center gap-1">
                  <span className="whitespace-nowrap">provider’s id</span>
                  <code className="break-all font-mono">{attempt.upstreamRequestId}</code>
                  <CopyButton value={attempt.upstreamRequestId} what="provider's request id" />
                </span>
              ) : (
                <span>no id from the provider</span>
              )}
            </p>
            {attempt.lost.length > 0 ? (
              <p className="text-xs [overflow-wrap:anywhere]">
                <span className="text-muted">Left out: </span>
                <code className="font-mono">{attempt.lost.join(', ')}</code>
              </p>
            ) : null}
            {attempt.providerCode || attempt.providerMessage ? (
              <p className="text-xs [overflow-wrap:anywhere]">
                <span className="text-muted">The provider said: </span>
                {attempt.providerCode ? <code className="font-mono">{attempt.providerCode}</code> : null}
                {attempt.providerCode && attempt.providerMessage ? ' – ' : null}
                {attempt.providerMessage}
              </p>
            ) : null}
          </div>
        </li>
      ))}
    </ol>
  );
}
