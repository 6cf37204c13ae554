'use client';

import { useState } from 'react';
import { type ListColumns, ListTable } from '#components/columns/list-table';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import type { ColumnOf } from '#lib/console/columns';
import type { ManagementKeyRow } from '#lib/console/team/management-key-rows';

const looks: ListColumns<ManagementKeyRow, 'managementKeys'> = {
  fixed: {
    sort: { by: 'name' },
    place: 'title',
    className: 'min-w-40',
    show: (key) => (
      <>
        <span dir="auto" className="line-clamp-2 max-w-64 font-medium [overflow-wrap:anywhere]">
          {key.name}
        </span>
        <code className="block font-mono text-muted text-xs">{key.display}</code>
      </>
    ),
  },
  role: { className: 'capitalize', show: (key) => key.role },
  status: {
    place: 'state',
    show: (key) => (
      <Badge tone={key.active ? 'good' : 'bad'} dot>
        {key.active ? 'Active' : 'Revoked'}
      </Badge>
    ),
  },
  lastUsed: {
    sort: { by: 'lastUsed', descendingFirst: true },
    className: 'whitespace-nowrap',
    title: (key) => key.used?.exact,
    show: (key) => (key.used ? key.used.text : <span className="text-muted">Never</span>),
  },
  creator: { className: 'min-w-36 [overflow-wrap:anywhere]', show: (key) => key.madeBy },
  created: {
    sort: { by: 'created', descendingFirst: true, usual: 'descending' },
    className: 'whitespace-nowrap',
    title: (key) => key.created.exact,
    show: (key) => key.created.text,
  },
  id: {
    className: 'min-w-40',
    show: (key) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{key.id}</code>,
  },
};

interface ManagementKeyTableProps {
  workspace: string;
  keys: readonly ManagementKeyRow[];
  /** The columns after the name. */
  columns: readonly ColumnOf<'managementKeys'>[];
  revoke(workspace: string, input: { id: string }): Promise<FormAnswer<unknown>>;
}

export function ManagementKeyTable({ workspace, keys, columns, revoke }: ManagementKeyTableProps) {
  const [asked, ask] = useState<ManagementKeyRow | null>(null);
  return (
    <>
      <ListTable
        label="Management keys"
        table="managementKeys"
        looks={looks}
        columns={columns}
        rows={keys}
        actions={{
          sticky: true,
          place: 'menu',
          show: (key) =>
            key.active ? (
              <Button size="small" aria-label={`Revoke ${key.name}`} onClick={() => ask(key)}>
                Revoke
              </Button>
            ) : null,
        }}
      />
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => (open ? undefined : ask(null))}
        title={`Revoke ${asked?.name ?? ''}?`}
        description="Requests with this key will be refused. This cannot be undone."
        typed={asked?.name ?? null}
        verb={{ idle: 'Revoke key', pending: 'Revoking…' }}
        keep="Keep key"
        act={() => revoke(workspace, { id: asked?.id ?? '' })}
        done={`${asked?.name ?? 'The key'} revoked`}
      />
    </>
  );
}
