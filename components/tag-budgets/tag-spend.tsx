import Link from 'next/link';
import type { ReactNode } from 'react';
import { Badge } from '#components/ui/badge';
import { CapMeter } from '#components/ui/cap-meter';
import type { TagSpendFacts } from '#lib/console/show/tag-budget-rows';

interface TagSpendProps {
  facts: TagSpendFacts;
  /** What can be done about its budget. */
  action: ReactNode;
}

/** What one end user or value of a tag has spent, and whether its calls are refused. */
export function TagSpend({ facts, action }: TagSpendProps) {
  const { title, caps, rates, recorded, bound, refusing, log } = facts;
  return (
    <div className="grid gap-3 border-t px-4 py-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h3 className="flex min-w-0 flex-wrap items-center gap-2 font-medium" dir="auto">
          <span className="[overflow-wrap:anywhere]">{title}</span>
          {refusing ? (
            <Badge tone={refusing.limited ? 'warn' : 'bad'} dot>
              {refusing.limited ? 'Rate limited' : `Refused ${refusing.until}`}
            </Badge>
          ) : recorded ? (
            <Badge tone="good" dot>
              {bound === null ? 'No budget' : 'Has room'}
            </Badge>
          ) : (
            <Badge tone="warn">Not recorded</Badge>
          )}
        </h3>
        <span className="flex flex-wrap items-center gap-3">
          <Link
            href={log}
            prefetch={false}
            className="text-muted text-xs underline underline-offset-2 hover:text-ink"
          >
            Its calls in the log
          </Link>
          {action}
        </span>
      </div>
      <dl className="grid gap-3 sm:grid-cols-3">
        {caps.map(({ name, spent, exact, cap, part }) => (
          <div key={name} className="grid content-start gap-0.5">
            <dt className="text-muted text-xs">{name}</dt>
            <dd className="tabular-nums" title={exact}>
              <span className="font-semibold">{spent}</span>{' '}
              <span className="text-muted">{cap === null ? 'no cap' : `of ${cap}`}</span>
              {part === null ? null : <CapMeter used={part} text={`${Math.round(part * 100)}%`} />}
            </dd>
          </div>
        ))}
      </dl>
      <p className="text-muted text-xs leading-5">
        {boundTexts[bound ?? 'none']}
        {rates.length > 0 ? ` At most ${rates.join(' and ')} a minute.` : ''}
        {refusing ? ` ${refusing.why}` : ''}
      </p>
    </div>
  );
}

const boundTexts = {
  own: 'It has a budget of its own.',
  default: 'The default applies to it.',
  none: 'No budget applies to it.',
} as const;
