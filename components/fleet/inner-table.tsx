import type { ReactNode } from 'react';
import { ScrollRegion } from '#components/ui/scroll-region';
import { Cell, HeadCell, Row } from '#components/ui/table';

export interface Column {
  readonly title: string;
  readonly right?: boolean;
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
    <ScrollRegion label={label} className="relative">
      <table className="w-full border-separate border-spacing-0 text-sm">
        <thead>
          <tr>
            {columns.map(({ title, right }) => (
              <HeadCell key={title} className={right ? 'text-right' : undefined}>
                {title}
              </HeadCell>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, cells }) => (
            <Row key={id}>
              {cells.map((cell, at) => (
                <Cell
                  key={columns[at]?.title ?? ''}
                  className={
                    columns[at]?.right ? 'whitespace-nowrap text-right tabular-nums' : 'tabular-nums'
                  }
                >
                  {cell}
                </Cell>
              ))}
            </Row>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
