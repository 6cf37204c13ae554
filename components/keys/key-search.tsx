'use client';

import { Search } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { Input } from '#components/ui/input';
import { keyFilters, withoutSecret } from '#lib/console/key-filters';

/** Narrows the list of keys; what is looked for stands in the address. */
export function KeySearch() {
  const [pending, startTransition] = useTransition();
  const [filters, setFilters] = useQueryStates(keyFilters, {
    shallow: false,
    history: 'push',
    startTransition,
  });
  return (
    <search aria-busy={pending}>
      <form
        className="relative max-w-sm"
        onSubmit={(event) => {
          event.preventDefault();
          const text = withoutSecret(String(new FormData(event.currentTarget).get('q') ?? '').trim());
          void setFilters({ q: text || null, after: null });
        }}
      >
        <Search
          aria-hidden
          className="pointer-events-none absolute top-1/2 left-3 size-4 -translate-y-1/2 text-muted"
        />
        <Input
          key={filters.q}
          name="q"
          type="search"
          aria-label="Search keys by name, id or shown characters"
          placeholder="Name, id or shown characters"
          defaultValue={filters.q ?? ''}
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          className="pl-9"
        />
      </form>
    </search>
  );
}
