import Link from 'next/link';
import type { ComponentProps, ReactNode } from 'react';
import { SelectAllKeys, SelectKey } from '#components/keys/bulk/selection';
import { KeyMenu } from '#components/keys/key-menu';
import type { KeyRow } from '#components/keys/key-row';
import { Badge } from '#components/ui/badge';
import { CapMeter } from '#components/ui/cap-meter';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type ColumnOf, columnSets } from '#lib/console/columns';

interface KeyColumn {
  /** What the list is sorted by with it. */
  readonly sort?: Omit<ComponentProps<typeof SortHead>, 'children' | 'className'>;
  readonly headClass?: string;
  /** Where a phone shows it; without it as a detail under its name. */
  readonly place?: 'figure' | 'state' | 'whole';
  readonly cellClass?: string;
  title?(key: KeyRow): string | undefined;
  show(key: KeyRow): ReactNode;
}

const figure = { headClass: 'text-right', cellClass: 'text-right tabular-nums' };
const none = (text: string) => <span className="text-muted">{text}</span>;

/** The columns of a key after its name. */
const looks: Readonly<Record<ColumnOf<'keys'>, KeyColumn>> = {
  status: { place: 'state', show: (key) => <Status row={key} /> },
  limits: { place: 'whole', cellClass: 'min-w-44', show: (key) => <Limits row={key} /> },
  spend: {
    ...figure,
    sort: { by: 'spend', descendingFirst: true },
    place: 'figure',
    title: (key) => `$${key.exactSpent30d}`,
    show: (key) => key.spent30d,
  },
  total: {
    ...figure,
    sort: { by: 'total', descendingFirst: true },
    title: (key) => `$${key.exactSpentTotal}`,
    show: (key) => key.spentTotal,
  },
  lastUsed: {
    sort: { by: 'lastUsed', descendingFirst: true },
    cellClass: 'whitespace-nowrap',
    title: (key) => key.lastUsed?.exact,
    show: ({ lastUsed }) =>
      lastUsed ? (
        <>
          {lastUsed.text}
          {lastUsed.note ? <span className="block text-muted text-xs leading-4">{lastUsed.note}</span> : null}
        </>
      ) : (
        none('Never')
      ),
  },
  creator: { cellClass: '[overflow-wrap:anywhere]', show: ({ creator }) => creator ?? none('Unknown') },
  created: {
    sort: { by: 'created', descendingFirst: true, usual: 'descending' },
    cellClass: 'whitespace-nowrap',
    title: (key) => key.created.exact,
    show: (key) => key.created.text,
  },
  expires: {
    sort: { by: 'expires' },
    cellClass: 'whitespace-nowrap',
    show: ({ expires }) => expires ?? none('Never'),
  },
};

interface KeyTableProps {
  keys: readonly KeyRow[];
  /** The columns after the name. */
  columns: readonly ColumnOf<'keys'>[];
}

export function KeyTable({ keys, columns }: KeyTableProps) {
  return (
    <Table label="API keys">
      <thead>
        <tr>
          <SortHead by="name" before={<SelectAllKeys />}>
            {columnSets.keys.fixed}
          </SortHead>
          {columns.map((column) => {
            const { sort, headClass } = looks[column];
            const head = columnSets.keys.names[column];
            return sort ? (
              <SortHead key={column} className={headClass} {...sort}>
                {head}
              </SortHead>
            ) : (
              <HeadCell key={column} className={headClass}>
                {head}
              </HeadCell>
            );
          })}
          <ActionsHeadCell sticky />
        </tr>
      </thead>
      <tbody>
        {keys.map((key) => (
          <Row key={key.id}>
            <Cell place="title" className="min-w-40">
              <span className="flex items-start gap-3">
                <SelectKey id={key.id} name={key.name} />
                <span className="min-w-0">
                  <Link
                    href={key.href}
                    prefetch={false}
                    dir="auto"
                    className="line-clamp-2 max-w-64 font-medium [overflow-wrap:anywhere] hover:underline"
                  >
                    {key.name}
                  </Link>
                  <code className="block font-mono text-muted text-xs">{key.masked}</code>
                </span>
              </span>
            </Cell>
            {columns.map((column) => {
              const { place, cellClass, title, show } = looks[column];
              return (
                <Cell
                  key={column}
                  {...(place ? { place } : { label: columnSets.keys.names[column] })}
                  className={cellClass}
                  title={title?.(key)}
                >
                  {show(key)}
                </Cell>
              );
            })}
            <Cell place="menu" sticky>
              <KeyMenu row={key} />
            </Cell>
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

function Status({ row: key }: { row: KeyRow }) {
  return (
    <>
      <Badge tone={key.status.tone} dot title={key.status.why}>
        {key.status.text}
      </Badge>
      {key.status.note ? (
        <span className="mt-1 block max-w-44 text-muted text-xs leading-4 [overflow-wrap:anywhere]">
          {key.status.note}
        </span>
      ) : null}
      {key.earlier ? (
        <span
          className="mt-1 block whitespace-nowrap text-warn text-xs"
          title={`${key.earlier.masked} still works until ${key.earlier.until}.`}
        >
          two secrets
        </span>
      ) : null}
      {key.expires ? (
        <span className="mt-1 block whitespace-nowrap text-muted text-xs">expires {key.expires}</span>
      ) : null}
    </>
  );
}

function Limits({ row: key }: { row: KeyRow }) {
  return (
    <>
      <Scope models={key.models} />
      {key.cap ? <CapMeter {...key.cap} /> : null}
      {key.limits.length > 0 || !key.cap ? (
        <span className="block text-muted text-xs leading-5">
          {key.limits.join(' · ') || 'No key limits'}
        </span>
      ) : null}
    </>
  );
}

function Scope({ models }: { models: KeyRow['models'] }) {
  if (!models) return <>All models</>;
  const [first, ...rest] = models;
  return (
    <span title={models.join('\n')}>
      {first}
      {rest.length > 0 ? <span className="text-muted"> and {rest.length} more</span> : null}
    </span>
  );
}
