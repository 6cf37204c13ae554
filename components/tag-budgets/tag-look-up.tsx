'use client';

import { useQueryStates } from 'nuqs';
import { useState, useTransition } from 'react';
import { NativeSelect } from '#components/ui/native-select';
import { SearchBox } from '#components/ui/search-box';
import { tagBudgetFilters } from '#lib/console/tag-budget-filters';

/** Asks for an end user or a value of a tag; kept in the URL. @param props.names of tags that calls have. */
export function TagLookUp({ names }: { names: readonly string[] }) {
  const [pending, startTransition] = useTransition();
  const [{ tag, value }, set] = useQueryStates(tagBudgetFilters, {
    shallow: false,
    history: 'push',
    scroll: false,
    startTransition,
  });
  const [chosen, choose] = useState(tag ?? '');
  const known = tag === null || names.includes(tag) ? names : [tag, ...names];
  return (
    <search aria-busy={pending} aria-label="Look up spend" className="flex flex-wrap items-center gap-2">
      {known.length > 0 ? (
        <NativeSelect
          label="Kind"
          className="max-sm:w-full sm:w-44"
          value={chosen}
          options={[
            { value: '', label: 'End user' },
            ...known.map((name) => ({ value: name, label: `Tag ${name}` })),
          ]}
          onChange={choose}
        />
      ) : null}
      <SearchBox
        className="min-w-40 flex-1 sm:w-72 sm:flex-none"
        label={chosen === '' ? 'Id of an end user' : `Value of ${chosen}`}
        placeholder={chosen === '' ? 'Id of an end user, then Enter' : `Value of ${chosen}, then Enter`}
        value={value}
        onSearch={(text) => void set({ value: text, tag: text === null ? null : chosen || null })}
      />
      <span role="status" className="text-muted text-xs">
        {pending ? 'Loading…' : ''}
      </span>
    </search>
  );
}
