'use client';

import { useRouter } from 'next/navigation';
import { useTransition } from 'react';
import { noAnswer } from '#components/form/answer';
import type { RoutingActions } from '#components/routing/routing-actions';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { toast } from '#components/ui/toaster';

export interface VersionItem {
  readonly version: number;
  readonly by: string;
  /** "3 h ago"; `at` is the exact time in the workspace's time zone. */
  readonly ago: string;
  readonly at: string;
  readonly changes: readonly string[];
}

interface VersionListProps {
  workspace: string;
  /** "default", or a model. */
  place: string;
  /** Newest first. */
  versions: readonly VersionItem[];
  /** The version in force. */
  current: number;
  rollBack: RoutingActions['rollBack'];
  locked: boolean;
}

/** The versions, who made them and what changed, with a button to roll back. */
export function VersionList({ workspace, place, versions, current, rollBack, locked }: VersionListProps) {
  const router = useRouter();
  const [pending, startTransition] = useTransition();

  function back(to: number) {
    startTransition(async () => {
      const answer = await rollBack(workspace, { model: place, to }).catch(() => null);
      if (answer?.ok) {
        toast.success(`Version ${answer.value.version} is in effect, with the settings of version ${to}`, {
          action: { label: 'Undo', onClick: () => back(current) },
        });
      } else toast.error(answer?.message ?? noAnswer);
      if (answer) router.refresh();
    });
  }

  return (
    <ol className="min-w-0 divide-y rounded-lg border bg-surface">
      {versions.map((one) => (
        <li
          key={one.version}
          className="grid gap-x-6 gap-y-2 px-4 py-3 md:grid-cols-[9rem_minmax(0,1fr)_auto]"
        >
          <div className="text-[0.8125rem] leading-5">
            <span className="flex items-center gap-2 font-medium">
              Version {one.version}
              {one.version === current ? <Badge tone="good">In effect</Badge> : null}
            </span>
            <span className="block break-words text-muted text-xs leading-4" title={one.at}>
              {one.by}, {one.ago}
            </span>
          </div>
          <ChangeList changes={one.changes} />
          {one.version === current || locked ? null : (
            <Button
              size="small"
              className="justify-self-start md:justify-self-end"
              disabled={pending}
              onClick={() => back(one.version)}
            >
              Roll back to {one.version}
            </Button>
          )}
        </li>
      ))}
    </ol>
  );
}

/** The changes from the previous version. */
export function ChangeList({ changes }: { changes: readonly string[] }) {
  if (changes.length === 0) return <p className="text-[0.8125rem] text-muted">No differences.</p>;
  return (
    <ul className="grid gap-1 text-[0.8125rem] leading-5">
      {changes.map((change, at) => {
        const [key = '', ...rest] = change.split(': ');
        const again = at > 0 && changes[at - 1]?.startsWith(`${key}: `);
        return (
          <li key={change} className="grid gap-x-2 sm:grid-cols-[9.5rem_minmax(0,1fr)]">
            <span className={again ? 'sr-only sm:not-sr-only sm:invisible' : 'text-muted'}>{key}</span>
            <span className="[overflow-wrap:anywhere]">{rest.join(': ')}</span>
          </li>
        );
      })}
    </ul>
  );
}
