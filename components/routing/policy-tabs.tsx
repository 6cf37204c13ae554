'use client';

import Link from 'next/link';
import { useRouter } from 'next/navigation';
import { useEffect, useState } from 'react';
import { unsavedModels } from '#components/routing/policy-draft';
import { classNames } from '#components/ui/class-names';
import { NamePicker } from '#components/ui/name-picker';

interface PolicyTabsProps {
  /** Slug. */
  workspace: string;
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
export function PolicyTabs({ workspace, models, current, names, locked }: PolicyTabsProps) {
  const router = useRouter();
  const here = `/${workspace}/routing`;
  const [unsaved, setUnsaved] = useState<readonly string[]>([]);
  useEffect(() => {
    // The current one is listed anyway; one that was left may have unsaved changes now.
    setUnsaved(unsavedModels(workspace).filter((model) => model !== current));
  }, [workspace, current]);
  // Models leave the catalogue.
  const offered = unsaved.filter((model) => names.includes(model));
  const all = [null, ...new Set([...models, ...offered, ...(current === null ? [] : [current])])];
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
          {model !== null && offered.includes(model) ? (
            <span className="ml-1.5 font-sans text-warn text-xs">unsaved</span>
          ) : null}
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
