'use client';

import { useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import type { ManagementKeyRow } from '#lib/console/team/management-key-rows';

interface ManagementKeyTableProps {
  workspace: string;
  keys: readonly ManagementKeyRow[];
  revoke(workspace: string, input: { id: string }): Promise<FormAnswer<unknown>>;
}

export function ManagementKeyTable({ workspace, keys, revoke }: ManagementKeyTableProps) {
  const [asked, ask] = useState<ManagementKeyRow | null>(null);
  return (
    <>
      <Table label="Management keys">
        <thead>
          <tr>
            <SortHead by="name">Name</SortHead>
            <HeadCell>Role</HeadCell>
            <HeadCell>Status</HeadCell>
            <SortHead by="lastUsed" descendingFirst>
              Last used
            </SortHead>
            <HeadCell>Created by</HeadCell>
            <SortHead by="created" descendingFirst usual="descending">
              Created
            </SortHead>
            <ActionsHeadCell sticky />
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <Row key={key.id}>
              <Cell place="title" className="min-w-40">
                <span dir="auto" className="line-clamp-2 max-w-64 font-medium [overflow-wrap:anywhere]">
                  {key.name}
                </span>
                <code className="block font-mono text-muted text-xs">{key.display}</code>
              </Cell>
              <Cell label="Role" className="capitalize">
                {key.role}
              </Cell>
              <Cell place="state">
                <Badge tone={key.active ? 'good' : 'bad'} dot>
                  {key.active ? 'Active' : 'Revoked'}
                </Badge>
              </Cell>
              <Cell label="Last used" className="whitespace-nowrap" title={key.used?.exact}>
                {key.used ? key.used.text : <span className="text-muted">Never</span>}
              </Cell>
              <Cell label="Created by" className="min-w-36 [overflow-wrap:anywhere]">
                {key.madeBy}
              </Cell>
              <Cell label="Created" className="whitespace-nowrap" title={key.created.exact}>
                {key.created.text}
              </Cell>
              <Cell place="menu" sticky className="w-px">
                {key.active ? (
                  <Button size="small" aria-label={`Revoke ${key.name}`} onClick={() => ask(key)}>
                    Revoke
                  </Button>
                ) : null}
              </Cell>
            </Row>
          ))}
        </tbody>
      </Table>
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
