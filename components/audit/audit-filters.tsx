'use client';

import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { Button } from '#components/ui/button';
import { classNames } from '#components/ui/class-names';
import { FilterSheet } from '#components/ui/filter-sheet';
import { inputStyle } from '#components/ui/input';
import { NativeSelect } from '#components/ui/native-select';
import { listUrl } from '#lib/console/list-url';

interface AuditFiltersProps {
  /** Path of the page. */
  path: string;
  texts: Readonly<Record<string, string>>;
  actions: readonly string[];
  actors: readonly { readonly actor: string; readonly name: string }[];
  zone: string;
}

/** The filters of the audit log; they are kept in the URL. */
export function AuditFilters({ path, texts, actions, actors, zone }: AuditFiltersProps) {
  const router = useRouter();
  const [chosen, setChosen] = useState(texts);
  const set = (name: string) => (text: string) => setChosen((before) => ({ ...before, [name]: text }));
  const open = (next: Readonly<Record<string, string>>) => router.push(listUrl(path, next));

  function choose(name: string, text: string) {
    const next = { ...chosen, [name]: text };
    setChosen(next);
    open(next);
  }

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    // Includes text typed before hydration.
    const typed = [...new FormData(event.currentTarget)].map(([name, text]) => [name, String(text)]);
    open({ ...chosen, ...Object.fromEntries(typed) });
  }

  const choices = (all: string, options: readonly { value: string; label: string }[]) => [
    { value: '', label: all },
    ...options,
  ];
  const form = (
    <form
      method="get"
      action={path}
      onSubmit={submit}
      className="grid gap-3 sm:flex sm:flex-wrap sm:items-center sm:gap-2"
    >
      <NativeSelect
        label="Action"
        className="sm:w-48"
        value={chosen.action ?? ''}
        options={choices(
          'All actions',
          actions.map((value) => ({ value, label: value })),
        )}
        onChange={(text) => choose('action', text)}
      />
      <NativeSelect
        label="Who"
        className="sm:w-48"
        value={chosen.actor ?? ''}
        options={choices(
          'Anyone',
          actors.map(({ actor, name }) => ({ value: actor, label: name })),
        )}
        onChange={(text) => choose('actor', text)}
      />
      <input
        type="search"
        name="subject"
        aria-label="Subject id"
        placeholder="Subject id"
        value={chosen.subject ?? ''}
        onChange={(event) => set('subject')(event.currentTarget.value)}
        className={classNames(inputStyle, 'sm:w-48')}
      />
      <div className="grid gap-3 sm:flex sm:flex-wrap sm:items-center sm:gap-2">
        {(['from', 'to'] as const).map((name) => (
          <label
            key={name}
            className="grid grid-cols-[2.25rem_1fr] items-center gap-1.5 text-muted text-xs capitalize sm:flex"
            title={zone}
          >
            {name}
            <input
              type="datetime-local"
              name={name}
              value={chosen[name] ?? ''}
              onChange={(event) => set(name)(event.currentTarget.value)}
              className={classNames(inputStyle, 'sm:w-48')}
            />
          </label>
        ))}
        <Button type="submit">Show</Button>
      </div>
      {Object.keys(texts).length > 0 ? (
        <Button
          tone="quiet"
          onClick={() => {
            setChosen({});
            router.push(path);
          }}
        >
          Clear filters
        </Button>
      ) : null}
    </form>
  );
  return (
    <search>
      <div className="max-sm:hidden">{form}</div>
      <FilterSheet given={Object.keys(texts).filter((name) => name !== 'sort').length}>{form}</FilterSheet>
    </search>
  );
}
