import type { ReactNode } from 'react';
import { Section } from '#components/section';
import type { MonthWords } from '#lib/console/show/month';

interface MonthFactsProps {
  /** "November 2026". */
  month: string;
  words: MonthWords;
  /** The form of the budget, for members who may change it. */
  children?: ReactNode;
}

/** What was spent this month, what it may be by the end, and what is left of the budget. */
export function MonthFacts({ month, words, children }: MonthFactsProps) {
  const { spent, forecast, budget } = words;
  return (
    <Section title="This month" note={month}>
      <div className="grid gap-4 p-4">
        <dl className="grid gap-3 sm:grid-cols-3">
          <Fact name="Spent" value={spent} note="for calls that have ended" />
          {forecast ? (
            <Fact name="Forecast" value={forecast.value} exact={forecast.exact} note={forecast.note} />
          ) : (
            <Fact name="Forecast" value="–" note="not before a day of spend" />
          )}
          {budget ? (
            <Fact name="Left of the budget" value={budget.left} exact={budget.exact} note={budget.note} />
          ) : (
            <Fact name="Left of the budget" value="–" note="no budget is set" />
          )}
        </dl>
        {budget ? (
          <div className="grid gap-2">
            <div
              role="progressbar"
              aria-label="Used part of the budget"
              aria-valuenow={budget.percent}
              className="h-2 overflow-hidden rounded-full bg-hover"
            >
              <div
                className={`h-full rounded-full ${bars[budget.tone]}`}
                style={{ width: `${budget.percent}%` }}
              />
            </div>
            <p className={`leading-5 ${budget.tone === 'bad' ? 'text-bad' : 'text-muted'}`}>{budget.text}</p>
          </div>
        ) : null}
        {children ? <div className="border-t pt-4">{children}</div> : null}
      </div>
    </Section>
  );
}

const bars = { good: 'bg-accent', warn: 'bg-warn', bad: 'bg-bad' } as const;

function Fact({ name, value, exact, note }: { name: string; value: string; exact?: string; note: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs leading-4">{name}</dt>
      <dd className="mt-0.5" title={exact}>
        <span className="font-semibold text-lg tabular-nums tracking-tight">{value}</span>
        <span className="block text-muted text-xs leading-5">{note}</span>
      </dd>
    </div>
  );
}
