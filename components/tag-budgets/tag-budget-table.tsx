'use client';

import Link from 'next/link';
import { type ComponentProps, type ReactNode, Suspense, useState } from 'react';
import type { FormAnswer } from '#components/form/answer';
import { ConfirmDialog } from '#components/form/confirm-dialog';
import type { Values } from '#components/form/operation-form';
import { Badge } from '#components/ui/badge';
import { Button } from '#components/ui/button';
import { CapMeter } from '#components/ui/cap-meter';
import { later } from '#components/ui/on-demand';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type ColumnOf, columnSets } from '#lib/console/columns';
import type { FormField } from '#lib/console/form';
import type { TagBudgetRow } from '#lib/console/show/tag-budget-rows';

const ChangeTagBudget = later(() =>
  import('#components/tag-budgets/popups/change-tag-budget').then((all) => all.ChangeTagBudget),
);

interface TagBudgetTableProps {
  workspace: string;
  budgets: readonly TagBudgetRow[];
  columns: readonly ColumnOf<'tagBudgets'>[];
  fields: readonly FormField[];
  mayChange: boolean;
  actions: {
    set(workspace: string, input: Values): Promise<FormAnswer<unknown>>;
    remove(workspace: string, input: { id: string }): Promise<FormAnswer<unknown>>;
  };
}

interface BudgetColumn {
  readonly sort?: Omit<ComponentProps<typeof SortHead>, 'children' | 'className'>;
  readonly place?: 'figure' | 'state' | 'whole';
  readonly className?: string;
  title?(row: TagBudgetRow): string | undefined;
  /** Whether a phone leaves it out, because nothing is set. */
  empty?(row: TagBudgetRow): boolean;
  show(row: TagBudgetRow): ReactNode;
}

const nothing = <span className="text-muted">–</span>;

function capColumn(cap: keyof TagBudgetRow['caps']): BudgetColumn {
  return {
    sort: { by: cap, descendingFirst: true },
    className: 'whitespace-nowrap tabular-nums',
    empty: ({ caps }) => caps[cap] === null,
    show: ({ caps }) => <Cap cap={caps[cap]} />,
  };
}

/** The columns of a budget after whose it is. */
const looks: Readonly<Record<ColumnOf<'tagBudgets'>, BudgetColumn>> = {
  dailyCap: capColumn('dailyCap'),
  d7Cap: capColumn('d7Cap'),
  d30Cap: capColumn('d30Cap'),
  rates: {
    className: 'whitespace-nowrap tabular-nums',
    empty: ({ rates }) => rates.length === 0,
    show: ({ rates }) =>
      rates.length === 0
        ? nothing
        : rates.map((rate) => (
            <span key={rate} className="block leading-5">
              {rate}
            </span>
          )),
  },
  spend: {
    sort: { by: 'spend', descendingFirst: true },
    place: 'figure',
    className: 'text-right tabular-nums',
    title: ({ spend }) => spend?.exact,
    show: ({ spend }) => spend?.text ?? nothing,
  },
  state: { place: 'state', className: 'min-w-32', show: (row) => <State row={row} /> },
  created: {
    sort: { by: 'created', descendingFirst: true },
    className: 'whitespace-nowrap',
    show: ({ created }) => created,
  },
};

/** The budgets of end users and tags, which can be edited and deleted here. */
export function TagBudgetTable(props: TagBudgetTableProps) {
  const { workspace, budgets, columns, fields, mayChange, actions } = props;
  const [asked, ask] = useState<{ row: TagBudgetRow; what: 'edit' | 'delete' } | null>(null);
  const close = () => ask(null);
  const title = asked?.row.title ?? '';
  return (
    <>
      <Table label="Budgets of end users and tags">
        <thead>
          <tr>
            <SortHead by="tag" usual="ascending">
              {columnSets.tagBudgets.fixed}
            </SortHead>
            {columns.map((column) => {
              const { sort, className } = looks[column];
              const head = columnSets.tagBudgets.names[column];
              return sort ? (
                <SortHead key={column} className={className} {...sort}>
                  {head}
                </SortHead>
              ) : (
                <HeadCell key={column}>{head}</HeadCell>
              );
            })}
            {mayChange ? <ActionsHeadCell /> : null}
          </tr>
        </thead>
        <tbody>
          {budgets.map((row) => (
            <Row key={row.id}>
              <Cell place="title" className="min-w-36 max-w-72">
                {row.log ? (
                  <Link
                    href={row.log}
                    prefetch={false}
                    dir="auto"
                    title={`Show these calls in the log: ${row.title}`}
                    className="line-clamp-2 font-medium [overflow-wrap:anywhere] hover:underline"
                  >
                    {row.title}
                  </Link>
                ) : (
                  <span className="block font-medium [overflow-wrap:anywhere]">{row.title}</span>
                )}
                <span className="block text-muted text-xs">{row.note}</span>
              </Cell>
              {columns.map((column) => {
                const { className, title: exact, empty, show } = looks[column];
                const place = empty?.(row) ? 'hidden' : looks[column].place;
                return (
                  <Cell
                    key={column}
                    {...(place ? { place } : { label: columnSets.tagBudgets.names[column] })}
                    className={className}
                    title={exact?.(row)}
                  >
                    {show(row)}
                  </Cell>
                );
              })}
              {mayChange ? (
                <Cell className="w-px">
                  <span className="flex flex-wrap items-center gap-1.5 sm:flex-nowrap sm:justify-end">
                    <Button
                      size="small"
                      aria-label={`Edit budget of ${row.title}`}
                      onClick={() => ask({ row, what: 'edit' })}
                    >
                      Edit
                    </Button>
                    <Button
                      size="small"
                      tone="quiet"
                      aria-label={`Delete budget of ${row.title}`}
                      onClick={() => ask({ row, what: 'delete' })}
                    >
                      Delete
                    </Button>
                  </span>
                </Cell>
              ) : null}
            </Row>
          ))}
        </tbody>
      </Table>
      {asked?.what === 'edit' ? (
        <Suspense fallback={null}>
          <ChangeTagBudget
            row={asked.row}
            fields={fields}
            onClose={close}
            set={(input) => actions.set(workspace, input)}
          />
        </Suspense>
      ) : null}
      <ConfirmDialog
        open={asked?.what === 'delete'}
        onOpenChange={(open) => (open ? undefined : close())}
        title={`Delete the budget of ${title}?`}
        description={
          asked?.row.ofOne
            ? 'The default then applies to it, if there is one. What it spent before counts.'
            : 'Only those with a budget of their own are then bounded.'
        }
        verb={{ idle: 'Delete budget', pending: 'Deleting…' }}
        keep="Keep budget"
        act={() => actions.remove(workspace, { id: asked?.row.id ?? '' })}
        done="Budget deleted"
      />
    </>
  );
}

function Cap({ cap }: { cap: { readonly text: string; readonly used: number | null } | null }) {
  if (cap === null) return nothing;
  if (cap.used === null) return cap.text;
  return (
    <span className="inline-grid justify-items-start max-sm:justify-items-end">
      {cap.text}
      <CapMeter used={cap.used} />
    </span>
  );
}

function State({ row: { binds, off, refusing, ofOne } }: { row: TagBudgetRow }) {
  if (!binds)
    return (
      <>
        <Badge tone="warn">Not in force</Badge>
        <span className="mt-1 block text-muted text-xs leading-4">{off}</span>
      </>
    );
  if (refusing)
    return (
      <>
        <Badge tone={refusing.limited ? 'warn' : 'bad'} dot title={refusing.why}>
          {refusing.limited ? 'Rate limited' : 'Refused'}
        </Badge>
        <span className="mt-1 block text-muted text-xs leading-4" title={refusing.exact}>
          {refusing.until}
        </span>
      </>
    );
  return (
    <Badge tone="good" dot>
      {ofOne ? 'Has room' : 'In force'}
    </Badge>
  );
}
