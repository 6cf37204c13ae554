'use client';

import { RotateCw, X } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsString, useQueryStates } from 'nuqs';
import { useMemo, useTransition } from 'react';
import { type FilterChoices, LogFilter, type LogFilterField } from '#components/logs/log-filter';
import { Button } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';
import { handFocusOn } from '#components/ui/hand-focus-on';

interface LogFilterBarProps {
  /** The filters of the log, as they are declared. */
  fields: readonly LogFilterField[];
  /** The options of filters that have any, by name; the others are text fields. */
  choices: Readonly<Record<string, FilterChoices>>;
}

/** The filters of the log, kept in the URL. */
export function LogFilterBar({ fields, choices }: LogFilterBarProps) {
  const router = useRouter();
  const [pending, startTransition] = useTransition();
  const parsers = useMemo(
    () =>
      Object.fromEntries([...fields.map(({ name }) => name), 'after'].map((name) => [name, parseAsString])),
    [fields],
  );
  const [filters, setFilters] = useQueryStates(parsers, { shallow: false, history: 'push', startTransition });
  const given = fields.filter(({ name }) => filters[name]);
  const rare = fields.filter(({ group }) => group !== undefined);
  const rareGiven = rare.filter(({ name }) => filters[name]).length;

  /** Applies a filter, starting at the newest call again. */
  function narrow(change: Record<string, string | null>) {
    // A range has one start: the last hours, or a time.
    const other = change.last ? { from: null, to: null } : change.from ? { last: null } : {};
    void setFilters({ ...other, ...change, after: null });
  }

  const show = (field: LogFilterField) => (
    <LogFilter
      key={field.name}
      field={field}
      value={filters[field.name] ?? null}
      choices={choices[field.name]}
      onChange={(value) => narrow({ [field.name]: value })}
    />
  );
  return (
    <search className="grid gap-2" aria-busy={pending}>
      <div className="relative grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
        {fields.filter(({ group }) => group === undefined).map(show)}
        <div
          className={classNames(
            'flex items-center justify-end gap-2',
            given.length > 0 ? 'max-sm:col-span-2' : 'max-sm:absolute max-sm:top-0 max-sm:right-0',
          )}
        >
          {given.length > 0 ? (
            <Button
              tone="quiet"
              size="small"
              onClick={(event) => {
                handFocusOn(event.currentTarget);
                narrow(Object.fromEntries(fields.map(({ name }) => [name, null])));
              }}
            >
              <X />
              Clear
            </Button>
          ) : null}
          <Button
            size="icon"
            aria-label="Show new calls"
            title="Show new calls"
            onClick={() => startTransition(() => router.refresh())}
          >
            <RotateCw className={classNames(pending && 'animate-spin')} />
          </Button>
        </div>
      </div>
      {rare.length > 0 ? (
        <details open={rareGiven > 0}>
          <summary className="min-h-6 w-fit cursor-pointer content-center rounded-sm text-muted text-xs hover:text-ink">
            {rare[0]?.group?.title}
            {rareGiven > 0 ? ` (${rareGiven})` : ''}
          </summary>
          <div className="grid grid-cols-2 gap-2 pt-2 sm:flex sm:flex-wrap sm:items-center">
            {rare.map(show)}
          </div>
        </details>
      ) : null}
    </search>
  );
}
