'use client';

import { X } from 'lucide-react';
import { useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { useKeyPage } from '#components/keys/key-actions';
import { Button } from '#components/ui/button';
import { handFocusOn } from '#components/ui/hand-focus-on';
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
    <search aria-busy={pending} className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
      <SearchBox
        className="col-span-2 sm:w-72"
        label="Search keys by name, id or visible characters"
        placeholder="Name, id or visible characters"
        value={filters.q}
        onSearch={(text) => narrow({ q: text === null ? null : withoutSecret(text) })}
      />
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
      {filters.q || filters.status || filters.createdBy || filters.model ? (
        <Button
          tone="quiet"
          size="small"
          onClick={(event) => {
            handFocusOn(event.currentTarget);
            narrow(nothing);
          }}
        >
          <X />
          Clear
        </Button>
      ) : null}
    </search>
  );
}
