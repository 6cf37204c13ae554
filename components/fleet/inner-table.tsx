import type { ComponentProps, ReactNode } from 'react';
import { SortHead } from '#components/ui/sort-head';
import { Cell, HeadCell, Row, Table } from '#components/ui/table';

export interface Column {
  readonly title: string;
  readonly right?: boolean;
  /** Its title is only for screen readers: what can be done with a row. */
  readonly silent?: boolean;
  /** Where a phone shows it; without it as a detail under its title. */
  readonly place?: 'figure' | 'state' | 'aside' | 'whole';
  /** How the list is sorted by it. */
  readonly sort?: Omit<ComponentProps<typeof SortHead>, 'children' | 'className'>;
}

interface InnerTableProps {
  label: string;
  columns: readonly Column[];
  /** Cells by column; `id` is the key of the row. */
  rows: readonly { readonly id: string; readonly cells: readonly ReactNode[] }[];
  /** Shown instead of a table without rows. */
  none: string;
}

/** A table inside a section, without a frame of its own. */
export function InnerTable({ label, columns, rows, none }: InnerTableProps) {
  if (rows.length === 0) return <p className="px-4 py-4 text-muted">{none}</p>;
  return (
    <Table label={label} framed={false}>
      <thead>
        <tr>
          {columns.map(({ title, right, silent, sort }) =>
            sort ? (
              <SortHead key={title} className={right ? 'text-right' : undefined} {...sort}>
                {title}
              </SortHead>
            ) : (
              <HeadCell key={title} className={right ? 'text-right' : undefined}>
                {silent ? <span className="sr-only">{title}</span> : title}
              </HeadCell>
            ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, cells }) => (
          <Row key={id}>
            {cells.map((cell, at) => (
              <Cell
                key={columns[at]?.title ?? ''}
                {...placeOf(columns[at], at)}
                className={columns[at]?.right ? 'whitespace-nowrap text-right tabular-nums' : 'tabular-nums'}
              >
                {cell}
              </Cell>
            ))}
          </Row>
        ))}
      </tbody>
    </Table>
  );
}

function placeOf(column: Column | undefined, at: number) {
  if (at === 0) return { place: 'title' } as const;
  if (column?.silent) return { place: 'whole' } as const;
  return column?.place ? { place: column.place } : { label: column?.title ?? '' };
}
