import { classNames } from '#components/ui/class-names';
import type { Delta } from '#lib/core/delta';

interface DeltaBadgeProps {
  delta: Delta | null;
  /** true: an increase is bad (errors, latency); otherwise the change is neutral. */
  moreIsWorse?: boolean;
}

/** The change from the previous period; the sign shows the direction, the color only supports it. */
export function DeltaBadge({ delta, moreIsWorse }: DeltaBadgeProps) {
  if (delta === null) return null;
  const worse = moreIsWorse === true && delta.direction !== 0 ? delta.direction > 0 : null;
  return (
    <span
      className={classNames(
        'whitespace-nowrap text-xs tabular-nums',
        worse === null ? 'text-muted' : worse ? 'text-bad' : 'text-good',
      )}
    >
      {delta.text}
      <span className="sr-only"> compared with the previous period</span>
    </span>
  );
}
