'use client';

import { X } from 'lucide-react';
import { usePolicyForm } from '#components/routing/policy-form-context';
import { sentence } from '#components/routing/policy-key';
import { handFocusOn } from '#components/ui/hand-focus-on';
import { NamePicker } from '#components/ui/name-picker';
import { SortableList } from '#components/ui/sortable-list';
import { listOf } from '#lib/gateway/routing/pure/policy/read';

interface NameListProps {
  /** Key of the policy. */
  name: string;
  /** Accessible name: "Provider order". */
  label: string;
  add: string;
  names: readonly string[];
  /** Number of the first item. */
  from?: number;
}

/** Names whose order matters. */
export function OrderedNames({ name, label, add, names, from = 1 }: NameListProps) {
  const { policy, inherited, set, faultsAt } = usePolicyForm();
  const items = listOf(policy[name]);
  const change = (next: readonly string[]) =>
    set(name, next.length > 0 || inherited !== null ? next : undefined);
  return (
    <div className="grid gap-1.5">
      <SortableList
        label={label}
        items={items}
        from={from}
        onChange={change}
        note={(_item, index) => <FaultsOf faults={faultsAt(name, String(index))} />}
      />
      <NamePicker
        label={add}
        names={names.filter((one) => !items.includes(one))}
        onPick={(one) => change([...items, one])}
      />
    </div>
  );
}

/** Names whose order does not matter. */
export function NameSet({ name, label, add, names }: NameListProps) {
  const { policy, inherited, set, faultsAt } = usePolicyForm();
  const items = listOf(policy[name]);
  const change = (next: readonly string[]) =>
    set(name, next.length > 0 || inherited !== null ? next : undefined);
  return (
    <div className="grid gap-1.5">
      {items.length > 0 ? (
        <ul aria-label={label} className="flex flex-wrap gap-1.5">
          {items.map((item) => (
            <li
              key={item}
              data-item
              className="flex items-center gap-1 rounded-md border bg-surface py-0.5 pr-0.5 pl-2 font-mono text-[0.8125rem]"
            >
              {item}
              <button
                type="button"
                data-removes
                aria-label={`Remove ${item} from ${label.toLowerCase()}`}
                onClick={(event) => {
                  handFocusOn(event.currentTarget);
                  change(items.filter((one) => one !== item));
                }}
                className="grid size-6 place-items-center rounded text-muted hover:bg-hover hover:text-ink"
              >
                <X aria-hidden className="size-3.5" />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <FaultsOf faults={items.flatMap((_item, index) => faultsAt(name, String(index)))} />
      <NamePicker
        label={add}
        names={names.filter((one) => !items.includes(one))}
        onPick={(one) => change([...items, one])}
      />
    </div>
  );
}

export function FaultsOf({ faults }: { faults: readonly { readonly message: string }[] }) {
  return faults.map(({ message }) => (
    <span key={message} role="alert" className="block text-bad text-xs leading-5">
      {sentence(message)}
    </span>
  ));
}
