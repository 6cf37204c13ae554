'use client';

import { X } from 'lucide-react';
import { parseAsString, useQueryStates } from 'nuqs';
import { type ReactNode, useMemo, useTransition } from 'react';
import { Button } from '#components/ui/button';
import { handFocusOn } from '#components/ui/hand-focus-on';
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

const row = 'grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center';

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
    <search aria-busy={pending} className="grid gap-2">
      <div className={row}>
        <SearchBox
          className="col-span-2 min-w-40 flex-1 basis-48"
          label="Search models"
          placeholder="Name or slug"
          value={given.search ?? null}
          onSearch={(search) => narrow({ search })}
        />
        {choices.filter(({ rare }) => !rare).map(show)}
        {names.some((name) => given[name]) ? (
          <Button
            tone="quiet"
            size="small"
            onClick={(event) => {
              handFocusOn(event.currentTarget);
              narrow(Object.fromEntries(names.map((name) => [name, null])));
            }}
          >
            <X />
            Clear
          </Button>
        ) : null}
        {action}
      </div>
      <details open={rare.some(({ name }) => given[name])}>
        <summary className="w-fit cursor-pointer rounded-sm text-muted text-xs hover:text-ink">
          More filters
        </summary>
        <div className={`${row} pt-2`}>{rare.map(show)}</div>
      </details>
    </search>
  );
}
