'use client';

import { createContext, type ReactNode, startTransition, useContext, useState } from 'react';
import { CallTable } from '#components/logs/call-table';
import type { CallRow } from '#components/logs/columns/call-columns';
import type { CallColumn } from '#lib/console/log/columns';

/** null: the default columns. */
type Choice = readonly CallColumn[] | null;

interface ColumnChoice {
  readonly chosen: Choice;
  choose(columns: Choice): void;
}

const Columns = createContext<ColumnChoice>({ chosen: null, choose: () => undefined });

export const useColumns = () => useContext(Columns);

interface ChosenColumnsProps {
  /** The choice stored in this browser; the server reads it, so that the first render has these columns. */
  remembered: Choice;
  remember(columns: Choice): Promise<void>;
  children: ReactNode;
}

/** Provides the chosen columns of the log to the menu and the table. */
export function ChosenColumns({ remembered, remember, children }: ChosenColumnsProps) {
  const [chosen, setChosen] = useState(remembered);

  function choose(columns: Choice) {
    setChosen(columns);
    // If saving fails, the choice still applies until the page is left.
    startTransition(() => remember(columns).catch(() => undefined));
  }

  return <Columns value={{ chosen, choose }}>{children}</Columns>;
}

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
  return <CallTable sortable columns={useColumns().chosen} {...folds} {...props} />;
}
