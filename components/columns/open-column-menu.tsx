'use client';

import { RotateCcw } from 'lucide-react';
import { useColumns } from '#components/columns/chosen-columns';
import { ColumnsButton } from '#components/columns/columns-button';
import { Menu, MenuCheck, MenuItem, MenuSeparator } from '#components/ui/menu';
import { columnSets, columnsOf, shownColumns } from '#lib/console/columns';

/** The column menu of a table; open when it first appears. */
export function OpenColumnMenu() {
  const { table, chosen, choose } = useColumns();
  const { fixed, names } = columnSets[table];
  const shown: readonly string[] = shownColumns(table, chosen);
  const all: readonly string[] = columnsOf(table);
  const labels: Readonly<Record<string, string>> = names;
  return (
    <Menu className="w-56" startOpen trigger={<ColumnsButton />}>
      <MenuCheck checked disabled>
        {fixed}
      </MenuCheck>
      {all.map((column) => (
        <MenuCheck
          key={column}
          checked={shown.includes(column)}
          onChange={(checked) =>
            choose(all.filter((one) => (one === column ? checked : shown.includes(one))))
          }
        >
          {labels[column]}
        </MenuCheck>
      ))}
      <MenuSeparator />
      <MenuItem disabled={chosen === null} onSelect={() => choose(null)}>
        <RotateCcw />
        Default columns
      </MenuItem>
    </Menu>
  );
}
