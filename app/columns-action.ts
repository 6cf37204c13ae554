'use server';

import { cookies } from 'next/headers';
import { columnsCookie, isTableName, writeColumns } from '#lib/console/columns';

const yearSeconds = 365 * 86_400;

/**
 * Remembers, only in this browser, which columns a table shows. It needs no session: the catalogue is public.
 * @param columns null: the default columns.
 */
export async function chooseColumnsAction(table: unknown, columns: unknown): Promise<void> {
  if (!isTableName(table)) return;
  const jar = await cookies();
  const value = writeColumns(table, columns);
  const name = columnsCookie(table);
  if (value === null) jar.delete(name);
  else jar.set(name, value, { path: '/', maxAge: yearSeconds, sameSite: 'lax', httpOnly: true });
}
