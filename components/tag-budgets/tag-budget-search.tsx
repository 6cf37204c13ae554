'use client';

import { useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { SearchBox } from '#components/ui/search-box';
import { tagBudgetFilters } from '#lib/console/tag-budget-filters';

/** The search of the list of budgets, kept in the URL. */
export function TagBudgetSearch() {
  const [pending, startTransition] = useTransition();
  const [{ q }, set] = useQueryStates(tagBudgetFilters, { shallow: false, history: 'push', startTransition });
  return (
    <search aria-busy={pending} className="flex min-w-0 flex-1 items-center gap-2">
      <SearchBox
        className="min-w-40 flex-1 sm:w-72 sm:flex-none"
        label="Search budgets by tag or value"
        placeholder="Tag, value or end user"
        value={q}
        onSearch={(text) => void set({ q: text, after: null })}
      />
    </search>
  );
}
