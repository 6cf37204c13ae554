'use client';

import { useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { SearchBox } from '#components/ui/search-box';
import { keyFilters, withoutSecret } from '#lib/console/key-filters';

/** Filters the list of keys; the search is kept in the URL. */
export function KeySearch() {
  const [pending, startTransition] = useTransition();
  const [filters, setFilters] = useQueryStates(keyFilters, {
    shallow: false,
    history: 'push',
    startTransition,
  });
  return (
    <search aria-busy={pending}>
      <SearchBox
        className="max-w-sm"
        label="Search keys by name, id or visible characters"
        placeholder="Name, id or visible characters"
        value={filters.q}
        onSearch={(text) => {
          void setFilters({ q: text === null ? null : withoutSecret(text), after: null });
        }}
      />
    </search>
  );
}
