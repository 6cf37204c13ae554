'use client';

import { RotateCw, X } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { Button } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';
import { SearchBox } from '#components/ui/search-box';
import { Select } from '#components/ui/select';
import { logFilters } from '#lib/console/log-filters';

interface LogFilterBarProps {
  models: readonly string[];
  keys: readonly { id: string; name: string }[];
  /** With this many keys there may be more, which are not offered. */
  mostKeys: number;
}

const any = '';
const statuses = [
  { value: any, label: 'Any status' },
  { value: '2xx', label: '2xx succeeded' },
  { value: '4xx', label: '4xx rejected' },
  { value: '5xx', label: '5xx failed' },
] as const;

/** Narrows the log; all of it stands in the address. */
export function LogFilterBar({ models, keys, mostKeys }: LogFilterBarProps) {
  const router = useRouter();
  const [pending, startTransition] = useTransition();
  const [filters, setFilters] = useQueryStates(logFilters, {
    shallow: false,
    history: 'push',
    startTransition,
  });
  const filtered = Boolean(filters.id || filters.status || filters.model || filters.key);

  /** A new filter starts at the newest call again. */
  function narrow(change: Partial<typeof filters>) {
    void setFilters({ ...change, before: null });
  }

  return (
    <search className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center" aria-busy={pending}>
      <SearchBox
        className="col-span-2 min-w-56 flex-1 basis-64"
        inputClassName="font-mono text-[0.8125rem] placeholder:font-sans"
        label="Request id, or its first characters"
        value={filters.id}
        onSearch={(id) => narrow({ id })}
      />
      <Select
        label="Status"
        className="sm:w-36"
        value={filters.status ?? any}
        options={statuses}
        onChange={(status) => narrow({ status: status || null })}
      />
      <Select
        label="Model"
        className="sm:w-44"
        value={filters.model ?? any}
        options={[
          { value: any, label: 'Any model' },
          ...named(models, filters.model).map((model) => ({ value: model, label: model })),
        ]}
        onChange={(model) => narrow({ model: model || null })}
      />
      <Select
        label="Key"
        className="sm:w-36"
        value={filters.key ?? any}
        {...(keys.length >= mostKeys
          ? { note: 'The newest keys. The calls of an older one are a link on the page of the API keys.' }
          : {})}
        options={[
          { value: any, label: 'Any key' },
          ...keys.map((key) => ({ value: key.id, label: key.name })),
          ...(filters.key && !keys.some((key) => key.id === filters.key)
            ? [{ value: filters.key, label: 'Unknown key' }]
            : []),
        ]}
        onChange={(key) => narrow({ key: key || null })}
      />
      <div className="flex items-center justify-end gap-2">
        {filtered ? (
          <Button
            tone="quiet"
            size="small"
            onClick={() => narrow({ id: null, status: null, model: null, key: null })}
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
    </search>
  );
}

/** The models to choose from, with one that only the address knows. */
function named(models: readonly string[], chosen: string | null): readonly string[] {
  return chosen && !models.includes(chosen) ? [...models, chosen] : models;
}
