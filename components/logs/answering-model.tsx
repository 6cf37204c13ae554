import { ArrowRight, GitFork, KeySquare, Repeat } from 'lucide-react';
import { Badge } from '#components/ui/badge';

interface AnsweringModelProps {
  requested: string | null;
  answering: string | null;
  provider: string | null;
  /** How many providers were called. */
  attempts: number;
  ownKey?: 'answered' | 'fallback' | null;
  repeat?: 'repeat' | 'cache' | null;
}

const repeatNotes = {
  repeat: 'The answer to an earlier request with the same Idempotency-Key; nothing is charged.',
  cache: 'The answer to an earlier request of the same content, from the cache; nothing is charged.',
} as const;

const ownKeyNotes = {
  answered: 'An own key of the workspace answered; only the fee is charged.',
  fallback: 'The gateway’s credential answered in place of an own key, at list price.',
} as const;

/** The requested and the answering model, so that a fallback is visible without opening the call. */
export function AnsweringModel({
  requested,
  answering,
  provider,
  attempts,
  ownKey = null,
  repeat = null,
}: AnsweringModelProps) {
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
      <span className="flex flex-wrap items-center gap-x-1.5 gap-y-0.5 text-muted text-xs">
        <span className="min-w-0 [overflow-wrap:anywhere]">{provider ?? 'no provider called'}</span>
        {attempts > 1 ? (
          <Badge tone="info" className="py-0">
            <GitFork aria-hidden />
            {attempts} tries
          </Badge>
        ) : null}
        {repeat ? (
          <Badge tone="accent" className="py-0" title={repeatNotes[repeat]}>
            <Repeat aria-hidden />
            {repeat === 'cache' ? 'From the cache' : 'Repeated'}
          </Badge>
        ) : null}
        {ownKey ? (
          <Badge
            tone={ownKey === 'answered' ? 'accent' : 'warn'}
            className="py-0"
            title={ownKeyNotes[ownKey]}
          >
            <KeySquare aria-hidden />
            {ownKey === 'answered' ? 'Own key' : 'Own key not used'}
          </Badge>
        ) : null}
      </span>
    </div>
  );
}
