'use client';

import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

/** What the list needs of a key that can be selected. */
interface SelectableKey {
  readonly id: string;
  readonly name: string;
}

interface Selection {
  /** Keys of this page that can be changed; revoked ones are final. */
  readonly all: readonly SelectableKey[];
  readonly selected: ReadonlySet<string>;
  select(ids: readonly string[]): void;
}

const SelectionContext = createContext<Selection | null>(null);

/** Which keys of a page are selected for one change of all of them. */
export function KeySelection({ keys, children }: { keys: readonly SelectableKey[]; children: ReactNode }) {
  const [ids, select] = useState<readonly string[]>([]);
  const selection = useMemo(() => {
    // A key that another page shows, or that was revoked meanwhile, is no longer selected.
    const selected = new Set(ids.filter((id) => keys.some((key) => key.id === id)));
    return { all: keys, selected, select };
  }, [keys, ids]);
  return <SelectionContext value={selection}>{children}</SelectionContext>;
}

/** null outside a KeySelection: nothing may be changed. */
export function useKeySelection(): Selection | null {
  return useContext(SelectionContext);
}

const boxStyle = 'size-4 accent-accent';
/** The box itself is small, what can be pressed is not. */
const targetStyle = '-m-1 grid size-6 shrink-0 place-items-center';

/** Selects one key. */
export function SelectKey({ id, name }: SelectableKey) {
  const selection = useKeySelection();
  if (!selection?.all.some((key) => key.id === id)) return null;
  const { selected, select } = selection;
  return (
    <label className={targetStyle}>
      <input
        type="checkbox"
        className={boxStyle}
        aria-label={`Select ${name}`}
        checked={selected.has(id)}
        onChange={({ currentTarget: { checked } }) =>
          select([...[...selected].filter((one) => one !== id), ...(checked ? [id] : [])])
        }
      />
    </label>
  );
}

/** Selects every key of the page, or none. */
export function SelectAllKeys() {
  const selection = useKeySelection();
  if (!selection || selection.all.length === 0) return null;
  const { all, selected, select } = selection;
  return (
    <label className={targetStyle}>
      <input
        type="checkbox"
        className={boxStyle}
        aria-label="Select all keys of this page"
        checked={selected.size === all.length}
        ref={(box) => {
          if (box) box.indeterminate = selected.size > 0 && selected.size < all.length;
        }}
        onChange={({ currentTarget: { checked } }) => select(checked ? all.map(({ id }) => id) : [])}
      />
    </label>
  );
}
