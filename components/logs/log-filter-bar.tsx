'use client';

import { RotateCw } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { parseAsString, useQueryStates } from 'nuqs';
import { useMemo, useTransition } from 'react';
import { type FilterChoices, LogFilter, type LogFilterField } from '#components/logs/log-filter';
import { Button } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';
import { FilterBar } from '#components/ui/filter-bar';

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
  const usual = fields.filter(({ group }) => group === undefined);
  const [searched, ...others] = usual;
  return (
    <FilterBar
      busy={pending}
      given={given.length}
      onClear={() => narrow(Object.fromEntries(fields.map(({ name }) => [name, null])))}
      first={searched ? <div className="min-w-40 flex-1 sm:flex-none">{show(searched)}</div> : null}
      more={
        rare.length > 0
          ? {
              title: `${rare[0]?.group?.title}${rareGiven > 0 ? ` (${rareGiven})` : ''}`,
              open: rareGiven > 0,
              filters: rare.map(show),
            }
          : null
      }
      last={
        <Button
          size="icon"
          className="sm:ml-auto"
          aria-label="Show new calls"
          title="Show new calls"
          onClick={() => startTransition(() => router.refresh())}
        >
          <RotateCw className={classNames(pending && 'animate-spin')} />
        </Button>
      }
    >
      {others.map(show)}
    </FilterBar>
  );
}
