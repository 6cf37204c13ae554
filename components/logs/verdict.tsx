import { Badge } from '#components/ui/badge';

/** What was said about the answer of a call. */
export interface CallVerdict {
  /** null: no score was given. */
  readonly good: boolean | null;
  readonly score: string | null;
  readonly label: string | null;
}

/** Good or bad, with the score on hover, and the label. */
export function Verdict({ good, score, label }: CallVerdict) {
  return (
    <span className="inline-flex min-w-0 flex-wrap items-center gap-1.5">
      {good === null ? null : (
        <Badge tone={good ? 'good' : 'bad'} title={`Score ${score}`}>
          {good ? 'Good' : 'Bad'}
        </Badge>
      )}
      {label ? <span className="min-w-0 [overflow-wrap:anywhere]">{label}</span> : null}
      {good === null && label === null ? <span className="text-muted">Text only</span> : null}
    </span>
  );
}
