'use client';

import { useEffect, useState } from 'react';
import { type Stopping, useMemberPage } from '#components/members/member-actions';
import { Skeleton } from '#components/ui/skeleton';

interface StoppingKeysProps {
  member: string;
  /** The new role; if not set, the member would be removed. */
  role?: string;
}

/** The keys that stop immediately when a member is removed or gets another role. */
export function StoppingKeys({ member, role }: StoppingKeysProps) {
  const { actions, workspace } = useMemberPage();
  const [found, setFound] = useState<Stopping | string | null>(null);
  useEffect(() => {
    let wanted = true;
    setFound(null);
    actions.whatStops(workspace, { member, ...(role ? { role } : {}) }).then(
      (answer) => wanted && setFound(answer.ok ? answer.value : answer.message),
      () => wanted && setFound('The keys that would stop working could not be listed. Try again.'),
    );
    return () => {
      wanted = false;
    };
  }, [actions, workspace, member, role]);
  if (found === null) return <Skeleton className="h-12" />;
  if (typeof found === 'string') {
    return (
      <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
        {found}
      </p>
    );
  }
  const { apiKeys, managementKeys, stopping } = found;
  if (stopping.length === 0) return <p className="text-muted leading-5">No keys stop working.</p>;
  const more = apiKeys + managementKeys - stopping.length;
  return (
    <div className="grid gap-1.5">
      <p className="font-medium text-[0.8125rem]">These keys stop working immediately:</p>
      <ul className="max-h-56 divide-y overflow-y-auto rounded-md border" tabIndex={-1}>
        {stopping.map(({ id, name, display, kind }) => (
          <li key={id} className="flex flex-wrap items-baseline justify-between gap-x-3 px-3 py-1.5">
            <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
            <span className="text-muted text-xs">
              <code className="font-mono">{display}</code>{' '}
              {kind === 'api-key' ? 'API key' : 'management key, revoked'}
            </span>
          </li>
        ))}
      </ul>
      {more > 0 ? <p className="text-muted text-xs">and {more} more</p> : null}
      {apiKeys > 0 ? (
        <p className="text-muted text-xs leading-5">
          If this person becomes a member again, their API keys work again; their management keys do not.
        </p>
      ) : null}
    </div>
  );
}
