'use client';

import { ColumnsButton } from '#components/columns/columns-button';
import { later, OnDemand } from '#components/ui/on-demand';

const OpenColumnMenu = later(() =>
  import('#components/columns/open-column-menu').then((all) => all.OpenColumnMenu),
);

/** The column menu of a table, loaded on demand. */
export function ColumnMenu() {
  return (
    <OnDemand popup="menu" button={(button) => <ColumnsButton {...button} />} opened={<OpenColumnMenu />} />
  );
}
