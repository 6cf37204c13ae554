import { Badge } from '#components/ui/badge';

export interface ListedError {
  readonly code: string;
  readonly status: number;
  readonly meaning: string;
  readonly remedy: string;
}

/** Error codes with their meaning and remedy; each has an anchor. */
export function ErrorList({ errors }: { errors: readonly ListedError[] }) {
  return (
    <div className="grid rounded-lg border bg-surface">
      {errors.map(({ code, status, meaning, remedy }) => (
        <article
          key={code}
          id={code}
          aria-labelledby={`${code}-name`}
          className="grid scroll-mt-20 gap-1 border-b px-4 py-3 last:border-b-0 target:bg-accent-soft"
        >
          <h3 id={`${code}-name`} className="flex flex-wrap items-center gap-2 text-sm">
            <Badge tone={status < 500 ? 'neutral' : 'bad'}>{status}</Badge>
            <a href={`#${code}`} className="font-medium font-mono hover:underline [overflow-wrap:anywhere]">
              {code}
            </a>
          </h3>
          <p className="leading-6">{meaning}</p>
          <p className="text-muted leading-6">{remedy}</p>
        </article>
      ))}
    </div>
  );
}
