import type { ComponentProps } from 'react';
import { ChosenColumns } from '#components/columns/chosen-columns';
import { ColumnMenu } from '#components/columns/column-menu';

/** The button that opens the columns of a list that the server renders. */
export function ListColumnsButton(props: Omit<ComponentProps<typeof ChosenColumns>, 'children'>) {
  return (
    <ChosenColumns {...props}>
      <ColumnMenu />
    </ChosenColumns>
  );
}
