import type { Explained } from '#components/routing/routing-actions';
import { Badge } from '#components/ui/badge';
import { showFamily } from '#lib/console/models/family-names';
import { showMoney } from '#lib/core/show-money';

/** Where a request would go, in order, and what is skipped and why. */
export function Explanation({ found }: { found: Explained }) {
  return (
    <div className="grid gap-3 border-t px-4 py-3 text-[0.8125rem] leading-5">
      <p className="text-muted text-xs leading-4">
        <span className="font-mono text-ink">{found.model}</span> as {showFamily(found.family)}
        {found.health === 'live' ? null : '; all offers are treated as healthy, because no process answered'}
      </p>
      {found.failure ? (
        <p className="text-bad">
          {found.skipped.length > 0 ? (
            <>
              No offer can serve this request: it is answered with{' '}
              <code className="break-all font-mono text-xs">{found.failure.code}</code>.
            </>
          ) : (
            found.failure.message
          )}
        </p>
      ) : null}
      <ol aria-label="Candidates" className="grid gap-2.5">
        {found.candidates.map((one, at) => (
          <li key={`${one.provider} ${one.model}`} className="flex gap-2.5">
            <span
              aria-hidden
              className="mt-0.5 grid size-4.5 shrink-0 place-items-center rounded-full bg-accent-soft font-medium text-[0.6875rem] text-accent-ink tabular-nums"
            >
              {at + 1}
            </span>
            <span className="min-w-0 flex-1">
              <span className="flex flex-wrap items-baseline justify-between gap-x-2">
                <span className="font-medium">{one.provider}</span>
                <span className="text-muted text-xs tabular-nums">{prices(one)}</span>
              </span>
              <span className="block break-all font-mono text-muted text-xs">{one.model}</span>
              <span className="flex flex-wrap gap-1.5">
                {one.translatedTo ? <Badge tone="info">Translated to {one.translatedTo}</Badge> : null}
                {one.openUntil ? <Badge tone="warn">Set aside, so tried last</Badge> : null}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {found.skipped.length > 0 ? (
        <details open={found.candidates.length === 0 || found.skipped.length <= 6}>
          <summary className="rounded text-muted text-xs">Skipped: {found.skipped.length}</summary>
          <ul aria-label="Skipped" className="mt-2 grid gap-2">
            {found.skipped.map((one) => (
              <li key={`${one.provider} ${one.model}`} className="text-xs leading-4">
                <span className="font-medium">{one.provider === '*' ? 'All offers' : one.provider}</span>{' '}
                <span className="break-all font-mono text-muted">{one.model}</span>
                <span className="block text-muted">{one.why}</span>
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </div>
  );
}

function prices({ input, output }: Explained['candidates'][number]): string {
  if (input === null && output === null) return '';
  const shown = (amount: string | null) => (amount === null ? '–' : showMoney(amount));
  return `${shown(input)} in, ${shown(output)} out per 1M`;
}
