'use client';

import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { createContext, type ReactNode, startTransition, useContext, useOptimistic } from 'react';
import { columnSets, type TableName } from '#lib/console/columns';

/** null: the default columns. */
type Choice = readonly string[] | null;

interface ColumnChoice {
  readonly table: TableName;
  readonly chosen: Choice;
  choose(columns: Choice): void;
}

const Columns = createContext<ColumnChoice>({ table: 'log', chosen: null, choose: () => undefined });

export const useColumns = () => useContext(Columns);

interface ChosenColumnsProps {
  table: TableName;
  /** The choice of the URL or of this browser; the server reads it, so that the first render has these columns. */
  remembered: Choice;
  /** Stores a choice in this browser; the page is then rendered again. */
  remember(table: TableName, columns: Choice): Promise<void>;
  children: ReactNode;
}

/** Provides the chosen columns of a table to its menu, and to a table that the browser renders. */
export function ChosenColumns({ table, remembered, remember, children }: ChosenColumnsProps) {
  const [chosen, show] = useOptimistic(remembered);
  const router = useRouter();
  const path = usePathname();
  const query = new URLSearchParams(useSearchParams());

  function choose(columns: Choice) {
    startTransition(async () => {
      show(columns);
      await remember(table, columns).catch(() => undefined);
      // The columns of a saved view give way to the user's own choice.
      const { parameter } = columnSets[table];
      if (!query.has(parameter)) return;
      query.delete(parameter);
      startTransition(() => router.replace(query.size > 0 ? `${path}?${query}` : path, { scroll: false }));
    });
  }

  return <Columns value={{ table, chosen, choose }}>{children}</Columns>;
}
