import { classNames } from '#components/ui/class-names';
import type { DayBar, StateTone } from '#lib/console/status/view';

const tones: Readonly<Record<StateTone, string>> = {
  good: 'bg-good',
  warn: 'bg-warn',
  bad: 'bg-bad',
  info: 'bg-info',
  neutral: 'bg-line',
};

/** One bar per day; on narrow screens the last 30. `summary` also says what the colors show. */
export function UptimeBar({ days, summary }: { days: readonly DayBar[]; summary: string }) {
  return (
    <div>
      <div role="img" aria-label={summary} className="flex h-8 items-stretch gap-px sm:gap-0.5">
        {days.map(({ day, tone, text }, at) => (
          <span
            key={day}
            title={text}
            className={classNames(
              'min-w-0 flex-1 rounded-[2px] opacity-85',
              tones[tone],
              at < days.length - 30 && 'max-sm:hidden',
            )}
          />
        ))}
      </div>
      <p aria-hidden className="mt-1 flex justify-between text-muted text-xs">
        <span className="sm:hidden">30 days ago</span>
        <span className="max-sm:hidden">{days.length} days ago</span>
        <span>Today</span>
      </p>
    </div>
  );
}
