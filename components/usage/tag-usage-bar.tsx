'use client';

import { usePathname, useRouter } from 'next/navigation';
import { useQueryStates } from 'nuqs';
import { useTransition } from 'react';
import { Button } from '#components/ui/button';
import { NativeSelect } from '#components/ui/native-select';
import { SearchBox } from '#components/ui/search-box';
import { RangeSelect, type ShownRange } from '#components/usage/range-select';
import { namesOf } from '#lib/console/usage/metrics';
import { groupingLabel, groupings, usageAddress } from '#lib/console/usage/parameters';
import { tagGroupings, tagUsageParameters } from '#lib/console/usage/tag-parameters';

interface TagUsageBarProps extends ShownRange {
  /** Names of tags that calls have. */
  names: readonly string[];
  /** The tag that is shown; null: end users. */
  tag: string | null;
}

const ofTag = 'tag=';
const others = 'All usage';

/** Chooses whose usage is shown; kept in the URL. */
export function TagUsageBar({ names, tag, range, days }: TagUsageBarProps) {
  const [pending, startTransition] = useTransition();
  const router = useRouter();
  const all = usePathname().replace(/\/tags$/, '');
  const options = { shallow: false, history: 'push', startTransition } as const;
  const [{ by, q, ...span }, set] = useQueryStates(tagUsageParameters, options);
  const narrow = (change: Parameters<typeof set>[0] & object) => void set({ ...change, after: null });
  const [endUsers, anyTag] = tagGroupings;
  const known = tag === null || names.includes(tag) ? names : [tag, ...names];
  function group(next: string) {
    if (next === endUsers.value) return narrow({ by: null, tag: null, q: null });
    if (next === anyTag.value) return narrow({ by: 'tag', tag: null, q: null });
    if (next.startsWith(ofTag)) return narrow({ by: 'tag', tag: next.slice(ofTag.length), q: null });
    const found = namesOf(groupings).find((name) => name === next) ?? 'model';
    const { from, to } = span;
    startTransition(() => router.push(usageAddress(all, { by: found, range: span.range, from, to })));
  }
  return (
    <search className="min-w-0 flex-1 max-sm:basis-full" aria-busy={pending} aria-label="Usage options">
      <div className="grid grid-cols-2 gap-2 sm:flex sm:flex-wrap sm:items-center">
        <NativeSelect
          label="Group by"
          className="sm:w-52"
          value={by === 'end-user' ? endUsers.value : tag === null ? anyTag.value : `${ofTag}${tag}`}
          options={[
            endUsers,
            ...(known.length === 0 ? [anyTag] : []),
            ...known.map((name) => ({ value: `${ofTag}${name}`, label: `By tag ${name}` })),
            ...namesOf(groupings)
              .filter((name) => name !== 'class')
              .map((value) => ({ value, label: groupingLabel(value), group: others })),
          ]}
          onChange={group}
        />
        <RangeSelect range={range} days={days} onChange={narrow} />
        <SearchBox
          className="col-span-2 min-w-40 sm:w-64"
          label={by === 'end-user' ? 'Search end users' : 'Search values'}
          value={q}
          onSearch={(text) => narrow({ q: text })}
        />
        {q ? (
          <Button tone="quiet" size="small" onClick={() => narrow({ q: null })}>
            Clear
          </Button>
        ) : null}
        <span role="status" className="self-center text-muted text-xs">
          {pending ? 'Loading…' : ''}
        </span>
      </div>
    </search>
  );
}
