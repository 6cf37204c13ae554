'use client';

import { useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { useKeyPage } from '#components/keys/key-actions';
import { FilterBar } from '#components/ui/filter-bar';
import { NamePicker } from '#components/ui/name-picker';
import { NativeSelect } from '#components/ui/native-select';
import { SearchBox } from '#components/ui/search-box';
import { keyFilters, withoutSecret } from '#lib/console/key-filters';

interface KeyFilterBarProps {
  /** Who created keys of the workspace. */
  makers: readonly { readonly id: string; readonly name: string }[];
}

const mostOptions = 60;
const nothing = { q: null, status: null, createdBy: null, model: null };

/** The filters of the list of keys, kept in the URL. */
export function KeyFilterBar({ makers }: KeyFilterBarProps) {
  const { models } = useKeyPage();
  const [pending, startTransition] = useTransition();
  const [filters, setFilters] = useQueryStates(keyFilters, {
    shallow: false,
    history: 'push',
    startTransition,
  });
  const narrow = (change: Partial<typeof filters>) => void setFilters({ ...change, after: null });
  return (
    <FilterBar
      busy={pending}
      given={Object.keys(nothing).filter((name) => filters[name as keyof typeof nothing]).length}
      onClear={() => narrow(nothing)}
      first={
        <SearchBox
          className="min-w-40 flex-1 sm:w-72 sm:flex-none"
          label="Search keys by name, id or visible characters"
          placeholder="Name, id or visible characters"
          value={filters.q}
          onSearch={(text) => narrow({ q: text === null ? null : withoutSecret(text) })}
        />
      }
    >
      <NativeSelect
        label="Status"
        className="sm:w-36"
        value={filters.status ?? ''}
        options={[
          { value: '', label: 'Any status' },
          { value: 'active', label: 'Enabled' },
          { value: 'inactive', label: 'Disabled' },
          { value: 'revoked', label: 'Revoked' },
        ]}
        onChange={(status) => narrow({ status: keyFilters.status.parse(status) })}
      />
      {makers.length > 0 ? (
        <NativeSelect
          label="Created by"
          className="sm:w-40"
          value={filters.createdBy ?? ''}
          options={[
            { value: '', label: 'Any creator' },
            ...makers.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onChange={(id) => narrow({ createdBy: id || null })}
        />
      ) : null}
      <div className="sm:w-52">
        <NamePicker
          label="Model"
          names={async (text) => [
            ...(filters.model !== null && text === '' ? [{ value: '', label: 'Any model' }] : []),
            ...models
              .filter((model) => model.toLowerCase().includes(text.toLowerCase()))
              .slice(0, mostOptions)
              .map((model) => ({ value: model, label: model })),
          ]}
          shown={{ text: filters.model ?? 'Any model', chosen: filters.model !== null }}
          onPick={(model) => narrow({ model: model || null })}
        />
      </div>
    </FilterBar>
  );
}
