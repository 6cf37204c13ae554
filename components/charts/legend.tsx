import { colourOf, Swatch } from '#components/charts/chart-style';
import { classNames } from '#components/ui/class-names';
import type { ChartData } from '#lib/console/usage/chart';

/** Names the dashed line of a chart. */
export function DashedLine() {
  return (
    <span className="inline-flex items-center gap-1.5">
      <svg aria-hidden width="20" height="2" className="shrink-0">
        <line x2="20" y1="1" y2="1" stroke="var(--line-strong)" strokeWidth="1.5" strokeDasharray="4 4" />
      </svg>
      Previous period
    </span>
  );
}

interface LegendProps {
  groups: ChartData['groups'];
  /** Index of the only group shown; null: all. */
  only: number | null;
  onOnly(index: number | null): void;
}

/** The groups with their colors; clicking one shows only it, clicking it again shows all. */
export function Legend({ groups, only, onOnly }: LegendProps) {
  if (groups.length < 2) return null;
  return (
    <ul
      aria-label="Chart legend"
      className="flex gap-x-1 gap-y-0.5 overflow-x-auto px-2 max-sm:[mask-image:linear-gradient(to_right,black_calc(100%-2.5rem),transparent)] sm:flex-wrap sm:px-3"
    >
      {groups.map((group, index) => (
        <li key={group.id} className="shrink-0">
          <button
            type="button"
            aria-pressed={only === index}
            onClick={() => onOnly(only === index ? null : index)}
            className={classNames(
              'flex h-7 max-w-60 items-center gap-1.5 rounded-md px-1.5 text-muted text-xs hover:bg-hover hover:text-ink',
              only === index && 'bg-hover font-medium text-ink',
              only !== null && only !== index && 'opacity-60',
            )}
          >
            <Swatch colour={colourOf(index, group.rest)} />
            <span dir="auto" className="truncate" title={group.label}>
              {group.label}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
