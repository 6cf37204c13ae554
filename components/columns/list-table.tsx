import type { ComponentProps, ReactNode } from 'react';
import { SortHead } from '#components/ui/sort-head';
import { ActionsHeadCell, Cell, HeadCell, Row, Table } from '#components/ui/table';
import { type ColumnOf, columnSets, type TableName } from '#lib/console/columns';

type Sort = Omit<ComponentProps<typeof SortHead>, 'children' | 'className'>;

/** How a column of a list looks. */
export interface ListColumn<RowOf> {
  /** How the list is sorted by it; without it the list is not sorted by this column. */
  readonly sort?: Sort;
  /** Where a phone shows it; without it as a detail under its name. */
  readonly place?: ComponentProps<typeof Cell>['place'];
  readonly headClass?: string;
  readonly className?: string;
  title?(row: RowOf): string | undefined;
  show(row: RowOf): ReactNode;
}

/** The looks of all columns of a table; `fixed` is the one that is always shown. */
export type ListColumns<RowOf, Name extends TableName> = Readonly<
  Record<ColumnOf<Name> | 'fixed', ListColumn<RowOf>>
>;

/** Right-aligned, with digits of equal width. */
export const figureColumn = {
  headClass: 'text-right',
  className: 'whitespace-nowrap text-right tabular-nums',
} as const;

/** The last cell of a row: what can be done with it. */
interface RowActions<RowOf> extends Pick<ListColumn<RowOf>, 'place' | 'className' | 'show'> {
  /** It stays in sight where the table scrolls. */
  readonly sticky?: boolean;
  /** The spoken name of the column, if not "Actions". */
  readonly name?: string;
}

interface ListTableProps<RowOf extends { readonly id: string }, Name extends TableName> {
  /** Spoken name. */
  label: string;
  /** Its name among the tables whose columns can be chosen. */
  table: Name;
  looks: ListColumns<RowOf, Name>;
  /** The columns that are shown after the fixed one. */
  columns: readonly ColumnOf<Name>[];
  rows: readonly RowOf[];
  framed?: boolean;
  /** false: a part of a list, in its usual order. */
  sortable?: boolean;
  actions?: RowActions<RowOf> | undefined;
}

/** A list with columns of choice (contract: control-plane/chosen-columns). */
export function ListTable<RowOf extends { readonly id: string }, const Name extends TableName>({
  label,
  table,
  looks,
  columns,
  rows,
  framed = true,
  sortable = true,
  actions,
}: ListTableProps<RowOf, Name>) {
  const names: Readonly<Record<string, string>> = columnSets[table].names;
  const shown = (['fixed', ...columns] as const).map((column) => ({
    column,
    name: column === 'fixed' ? columnSets[table].fixed : (names[column] ?? column),
    look: looks[column],
  }));
  return (
    <Table label={label} framed={framed}>
      <thead>
        <tr>
          {shown.map(({ column, name, look: { sort, headClass } }) =>
            sort && sortable ? (
              <SortHead key={column} className={headClass} {...sort}>
                {name}
              </SortHead>
            ) : (
              <HeadCell key={column} className={headClass}>
                {name}
              </HeadCell>
            ),
          )}
          {actions ? <ActionsHeadCell sticky={actions.sticky ?? false} name={actions.name} /> : null}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.id}>
            {shown.map(({ column, name, look: { place, className, title, show } }) => (
              <Cell
                key={column}
                {...(place ? { place } : { label: name })}
                className={className}
                title={title?.(row)}
              >
                {show(row)}
              </Cell>
            ))}
            {actions ? (
              <Cell
                place={actions.place}
                sticky={actions.sticky ?? false}
                className={actions.className ?? 'w-px'}
              >
                {actions.show(row)}
              </Cell>
            ) : null}
          </Row>
        ))}
      </tbody>
    </Table>
  );
}
