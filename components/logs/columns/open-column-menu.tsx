'use client';

import { RotateCcw } from 'lucide-react';
import { columnLooks } from '#components/logs/columns/call-columns';
import { useColumns } from '#components/logs/columns/chosen-columns';
import { ColumnsButton } from '#components/logs/columns/columns-button';
import { Menu, MenuCheck, MenuItem, MenuSeparator } from '#components/ui/menu';
import { callColumns, usualColumns } from '#lib/console/log/columns';

/** The column menu of the log; open when it first appears. */
export function OpenColumnMenu() {
  const { chosen, choose } = useColumns();
  const shown = chosen ?? usualColumns;
  return (
    <Menu className="w-56" startOpen trigger={<ColumnsButton />}>
      <MenuCheck checked disabled>
        Time
      </MenuCheck>
      {callColumns.map((column) => (
        <MenuCheck
          key={column}
          checked={shown.includes(column)}
          onChange={(checked) =>
            choose(callColumns.filter((one) => (one === column ? checked : shown.includes(one))))
          }
        >
          {columnLooks[column].head}
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
