import { ArrowRight, GitFork } from 'lucide-react';
import { Badge } from '#components/ui/badge';

interface AnsweringModelProps {
  requested: string | null;
  answering: string | null;
  provider: string | null;
  /** How many providers were called. */
  attempts: number;
}

/** The requested and the answering model, so that a fallback is visible without opening the call. */
export function AnsweringModel({ requested, answering, provider, attempts }: AnsweringModelProps) {
  const moved = requested !== null && answering !== null && requested !== answering;
  return (
    <div className="grid min-w-0 gap-0.5">
      <span className="flex min-w-0 flex-wrap items-center gap-x-1.5 font-medium">
        <span className="line-clamp-3 break-all" title={requested ?? undefined}>
          {requested ?? answering ?? 'no model'}
        </span>
        {moved ? (
          <>
            <ArrowRight aria-label="answered by" className="size-3.5 shrink-0 text-accent-ink" />
            <span className="break-all text-accent-ink">{answering}</span>
          </>
        ) : null}
      </span>
      <span className="flex items-center gap-1.5 text-muted text-xs">
        <span className="min-w-0 [overflow-wrap:anywhere]">{provider ?? 'no provider called'}</span>
        {attempts > 1 ? (
          <Badge tone="info" className="py-0">
            <GitFork aria-hidden />
            {attempts} tries
          </Badge>
        ) : null}
      </span>
    </div>
  );
}
