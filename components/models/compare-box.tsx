'use client';

import { parseAsArrayOf, parseAsString, useQueryState } from 'nuqs';
import { useTransition } from 'react';

interface CompareBoxProps {
  /** Slug of the model. */
  id: string;
  name: string;
  most: number;
}

/** Adds a model to the comparison, which is kept in the URL. */
export function CompareBox({ id, name, most }: CompareBoxProps) {
  const [pending, startTransition] = useTransition();
  const [chosen, setChosen] = useQueryState(
    'compare',
    parseAsArrayOf(parseAsString).withOptions({ shallow: false, history: 'push', startTransition }),
  );
  const ids = chosen ?? [];
  const checked = ids.includes(id);
  const full = !checked && ids.length >= most;
  return (
    <label className="-m-1 inline-grid size-6 place-items-center">
      <input
        type="checkbox"
        aria-label={`Compare ${name}`}
        title={full ? `You can compare up to ${most} models` : `Compare ${name}`}
        className="size-4 accent-accent disabled:opacity-40"
        checked={checked}
        disabled={full}
        aria-busy={pending}
        onChange={() => {
          const next = checked ? ids.filter((one) => one !== id) : [...ids, id];
          void setChosen(next.length > 0 ? next : null);
        }}
      />
    </label>
  );
}
