'use client';

import { useRouter } from 'next/navigation';
import { Suspense, useState, useTransition } from 'react';
import { type ListColumns, ListTable } from '#components/columns/list-table';
import { type FormAnswer, orNoAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import type { Values } from '#components/form/operation-form';
import { tellTest } from '#components/own-keys/tell-test';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { later } from '#components/ui/on-demand';
import { toast } from '#components/ui/toaster';
import type { ColumnOf } from '#lib/console/columns';
import type { FormField } from '#lib/console/form';
import type { OwnKeyRow } from '#lib/console/team/own-key-rows';

const ChangeOwnKey = later(() =>
  import('#components/own-keys/popups/change-own-key').then((all) => all.ChangeOwnKey),
);

type Tested = FormAnswer<{ failure: string | null }>;

interface OwnKeyTableProps {
  workspace: string;
  keys: readonly OwnKeyRow[];
  /** The columns after the name. */
  columns: readonly ColumnOf<'ownKeys'>[];
  fields: { readonly edit: readonly FormField[]; readonly replace: readonly FormField[] };
  mayChange: boolean;
  /** Whether the operator allows own keys now; otherwise they can be deleted only. */
  allowed: boolean;
  actions: {
    set(workspace: string, input: unknown): Promise<Tested>;
    test(workspace: string, input: { id: string }): Promise<Tested>;
    remove(workspace: string, input: { id: string }): Promise<FormAnswer<unknown>>;
  };
}

interface Asked {
  readonly row: OwnKeyRow;
  readonly what: 'edit' | 'replace' | 'delete';
}

const uses: Readonly<Record<OwnKeyRow['use'], { readonly name: string; readonly note: string }>> = {
  first: { name: 'First', note: 'then the gateway’s credential' },
  only: { name: 'Only', note: 'never the gateway’s credential' },
  last: { name: 'Last', note: 'after the gateway’s credential' },
};

const looks: ListColumns<OwnKeyRow, 'ownKeys'> = {
  fixed: {
    sort: { by: 'name' },
    place: 'title',
    className: 'min-w-40',
    show: (row) => (
      <>
        <span className="block font-medium [overflow-wrap:anywhere]">{row.name}</span>
        <span className="block text-muted text-xs [overflow-wrap:anywhere]">{row.provider}</span>
        {row.address ? (
          <code className="block font-mono text-muted text-xs [overflow-wrap:anywhere]">{row.address}</code>
        ) : null}
      </>
    ),
  },
  used: {
    sort: { by: 'used' },
    show: (row) => (
      <>
        {uses[row.use].name}
        <span className="block text-muted text-xs">{uses[row.use].note}</span>
      </>
    ),
  },
  models: {
    className: 'min-w-32',
    title: (row) => row.models?.join(', '),
    show: (row) => <Models models={row.models} />,
  },
  state: {
    sort: { by: 'state' },
    place: 'whole',
    className: 'min-w-40 max-w-80',
    show: (row) => <State state={row.state} />,
  },
  id: {
    className: 'min-w-40',
    show: (row) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{row.id}</code>,
  },
};

export function OwnKeyTable(props: OwnKeyTableProps) {
  const { workspace, keys, columns, fields, mayChange, allowed, actions } = props;
  const [asked, ask] = useState<Asked | null>(null);
  const close = () => ask(null);
  const changed = asked?.what === 'delete' ? null : asked;
  return (
    <>
      <ListTable
        label="Own provider keys"
        table="ownKeys"
        looks={looks}
        columns={columns}
        rows={keys}
        actions={
          mayChange
            ? {
                show: (row) => (
                  <span className="flex flex-wrap items-center gap-1.5 sm:flex-nowrap sm:justify-end">
                    {allowed ? (
                      <>
                        <TestButton row={row} test={() => actions.test(workspace, { id: row.id })} />
                        <Button
                          size="small"
                          aria-label={`Edit ${row.name}`}
                          onClick={() => ask({ row, what: 'edit' })}
                        >
                          Edit
                        </Button>
                        <Button
                          size="small"
                          aria-label={`Replace key of ${row.name}`}
                          onClick={() => ask({ row, what: 'replace' })}
                        >
                          Replace key
                        </Button>
                      </>
                    ) : null}
                    <Button
                      size="small"
                      tone="quiet"
                      aria-label={`Delete ${row.name}`}
                      onClick={() => ask({ row, what: 'delete' })}
                    >
                      Delete
                    </Button>
                  </span>
                ),
              }
            : undefined
        }
      />
      {changed && changed.what !== 'delete' ? (
        <Suspense fallback={null}>
          <ChangeOwnKey
            row={changed.row}
            change={changed.what}
            fields={fields[changed.what]}
            onClose={close}
            set={(input: Values) => actions.set(workspace, input)}
          />
        </Suspense>
      ) : null}
      <ConfirmDialog
        open={asked?.what === 'delete'}
        onOpenChange={(open) => (open ? undefined : close())}
        title={`Delete ${asked?.row.name ?? ''}?`}
        description="Calls stop using this key. Jobs, files and stored responses that it made can no longer be reached here, and running jobs are given up. This cannot be undone."
        typed={asked?.row.name ?? null}
        verb={{ idle: 'Delete key', pending: 'Deleting…' }}
        keep="Keep key"
        act={() => actions.remove(workspace, { id: asked?.row.id ?? '' })}
        done={`${asked?.row.name ?? 'The key'} deleted`}
      />
    </>
  );
}

function State({ state: { tone, text, note, exact } }: Pick<OwnKeyRow, 'state'>) {
  return (
    <>
      <Badge tone={tone} dot={tone !== 'outline'}>
        {text}
      </Badge>
      {note ? (
        <span
          title={exact ?? undefined}
          className={`mt-1 block text-xs leading-4 [overflow-wrap:anywhere] ${tone === 'bad' ? 'text-bad' : 'text-muted'}`}
        >
          {note}
        </span>
      ) : null}
    </>
  );
}

function Models({ models }: { models: OwnKeyRow['models'] }) {
  const [first, ...rest] = models ?? [];
  if (first === undefined) return 'All';
  return (
    <>
      <span className="block [overflow-wrap:anywhere]">{first}</span>
      {rest.length > 0 ? <span className="block text-muted text-xs">and {rest.length} more</span> : null}
    </>
  );
}

/** A test of a key; how it ended is also in the row afterwards. */
function TestButton({ row, test }: { row: OwnKeyRow; test(): Promise<Tested> }) {
  const router = useRouter();
  const [pending, startTransition] = useTransition();
  function press() {
    startTransition(async () => {
      const answer = await orNoAnswer(test());
      if (answer.ok)
        tellTest(answer.value.failure, { passed: `${row.name} works`, failed: `${row.name} fails` });
      else toast.error(answer.message);
      router.refresh();
    });
  }
  return (
    <Button size="small" disabled={pending} onClick={press}>
      {pending ? 'Testing…' : 'Test'}
      <span className="sr-only"> {row.name}</span>
    </Button>
  );
}
