'use client';

import { parseAsString, useQueryStates } from 'nuqs';
import { type ReactNode, useMemo, useTransition } from 'react';
import { FilterBar } from '#components/ui/filter-bar';
import { NativeSelect } from '#components/ui/native-select';
import { SearchBox } from '#components/ui/search-box';

export interface ModelFilterChoice {
  /** Name in the URL. */
  readonly name: string;
  readonly label: string;
  /** Label when no filter is chosen: "Any provider". */
  readonly any: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly note?: string;
  /** Whether it is collapsed until it is used. */
  readonly rare?: boolean;
}

/** The filters of the catalogue, kept in the URL. */
interface ModelFilterBarProps {
  choices: readonly ModelFilterChoice[];
  /** A button behind the filters. */
  action: ReactNode;
}

export function ModelFilterBar({ choices, action }: ModelFilterBarProps) {
  const [pending, startTransition] = useTransition();
  const names = useMemo(() => ['search', ...choices.map(({ name }) => name)], [choices]);
  const parsers = useMemo(
    () => Object.fromEntries([...names, 'page'].map((name) => [name, parseAsString])),
    [names],
  );
  const [given, setGiven] = useQueryStates(parsers, { shallow: false, history: 'push', startTransition });

  /** Applies a filter, starting at the first page again. */
  function narrow(change: Record<string, string | null>) {
    void setGiven({ ...change, page: null });
  }

  function show({ name, label, any, options, note }: ModelFilterChoice) {
    const value = given[name] ?? '';
    const known = value === '' || options.some((option) => option.value === value);
    return (
      <NativeSelect
        key={name}
        label={label}
        className="sm:max-w-36"
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
  }

  const rare = choices.filter((choice) => choice.rare);
  return (
    <FilterBar
      busy={pending}
      given={names.filter((name) => given[name]).length}
      onClear={() => narrow(Object.fromEntries(names.map((name) => [name, null])))}
      first={
        <SearchBox
          className="min-w-40 flex-1 basis-48"
          label="Search models"
          placeholder="Name or slug"
          value={given.search ?? null}
          onSearch={(search) => narrow({ search })}
        />
      }
      more={{
        title: 'More filters',
        open: rare.some(({ name }) => given[name]),
        filters: rare.map(show),
      }}
      last={action}
    >
      {choices.filter(({ rare }) => !rare).map(show)}
    </FilterBar>
  );
}
