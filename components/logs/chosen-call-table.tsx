'use client';

import { useState } from 'react';
import { useColumns } from '#components/columns/chosen-columns';
import type { CallRow } from '#components/logs/call-columns';
import { CallTable } from '#components/logs/call-table';
import { shownColumns } from '#lib/console/columns';

/** Calls with the columns that somebody chose; repeated refusals stand in one row until it is opened. */
export function ChosenCallTable({
  folded = true,
  ...props
}: {
  calls: readonly CallRow[];
  fresh?: ReadonlySet<string>;
  /** false: calls that follow each other have nothing to do with each other. */
  folded?: boolean;
}) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) =>
    setOpen((before) =>
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
    );
  const folds = folded ? { folds: { open, toggle } } : {};
  return <CallTable sortable columns={shownColumns('log', useColumns().chosen)} {...folds} {...props} />;
}
