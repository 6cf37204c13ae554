'use client';

import { X } from 'lucide-react';
import { parseAsString, useQueryStates } from 'nuqs';
import { useMemo, useTransition } from 'react';
import { Button } from '#components/ui/button';
import { SearchBox } from '#components/ui/search-box';
import { Select } from '#components/ui/select';

export interface ModelFilterChoice {
  /** Name in the address. */
  readonly name: string;
  readonly label: string;
  /** What stands there while it does not narrow: "Any provider". */
  readonly any: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  /** Below the options. */
  readonly note?: string;
}

/** Narrows the catalogue; all of it stands in the address. */
export function ModelFilterBar({ choices }: { choices: readonly ModelFilterChoice[] }) {
  const [pending, startTransition] = useTransition();
  const names = useMemo(() => ['search', ...choices.map(({ name }) => name)], [choices]);
  const parsers = useMemo(
    () => Object.fromEntries([...names, 'page'].map((name) => [name, parseAsString])),
    [names],
  );
  const [given, setGiven] = useQueryStates(parsers, { shallow: false, history: 'push', startTransition });

  /** Another filter starts at the first page again. */
  function narrow(change: Record<string, string | null>) {
    void setGiven({ ...change, page: null });
  }

  return (
    <search aria-busy={pending} className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
      <SearchBox
        className="col-span-2 min-w-40 flex-1 basis-64"
        label="Search models"
        placeholder="Name or slug"
        value={given.search ?? null}
        onSearch={(search) => narrow({ search })}
      />
      {choices.map(({ name, label, any, options, note }) => {
        const value = given[name] ?? '';
        const known = value === '' || options.some((option) => option.value === value);
        return (
          <Select
            key={name}
            label={label}
            className="sm:w-auto sm:min-w-32 sm:max-w-48"
            value={value}
            {...(note ? { note } : {})}
            options={[
              { value: '', label: any },
              ...options,
              ...(known ? [] : [{ value, label: `${label}: ${value}` }]),
            ]}
            onChange={(chosen) => narrow({ [name]: chosen || null })}
          />
        );
      })}
      {names.some((name) => given[name]) ? (
        <Button
          tone="quiet"
          size="small"
          onClick={() => narrow(Object.fromEntries(names.map((name) => [name, null])))}
        >
          <X />
          Clear
        </Button>
      ) : null}
    </search>
  );
}
