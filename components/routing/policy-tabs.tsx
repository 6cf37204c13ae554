'use client';

import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { classNames } from '#components/ui/class-names';
import { NamePicker } from '#components/ui/name-picker';

interface PolicyTabsProps {
  /** URL of the page. */
  here: string;
  /** Models that have their own policy or draft. */
  models: readonly string[];
  /** The selected model; null: the default. */
  current: string | null;
  /** Every model of the catalogue. */
  names: readonly string[];
  locked: boolean;
}

const addressOf = (here: string, model: string | null) =>
  model === null ? here : `${here}?model=${encodeURIComponent(model)}`;

/** The policies of a workspace: its default, and those of models that override it. */
export function PolicyTabs({ here, models, current, names, locked }: PolicyTabsProps) {
  const router = useRouter();
  const all = [null, ...new Set([...models, ...(current === null ? [] : [current])])];
  return (
    <nav aria-label="Policies" className="flex flex-wrap items-center gap-1.5">
      {all.map((model) => (
        <Link
          key={model ?? ''}
          href={addressOf(here, model)}
          aria-current={model === current ? 'page' : undefined}
          className={classNames(
            'flex h-8 max-w-full items-center rounded-md border px-3 text-[0.8125rem]',
            model === null ? '' : 'font-mono',
            model === current
              ? 'border-accent/50 bg-accent-soft font-medium text-accent-ink'
              : 'bg-surface text-muted hover:text-ink',
          )}
        >
          <span className="truncate" title={model ?? undefined}>
            {model ?? 'Default'}
          </span>
        </Link>
      ))}
      {locked ? null : (
        <div className="w-60 max-w-full">
          <NamePicker
            label="Add a model override"
            names={names.filter((name) => !all.includes(name))}
            onPick={(name) => router.push(addressOf(here, name))}
          />
        </div>
      )}
    </nav>
  );
}
