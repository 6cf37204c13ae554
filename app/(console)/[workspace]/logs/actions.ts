'use server';

import { cookies } from 'next/headers';
import { columnsCookie, writeColumns } from '#lib/console/log/columns';

const yearSeconds = 365 * 86_400;

/** Remembers, only in this browser, which columns the log shows. @param columns null: the default columns. */
export async function chooseColumnsAction(columns: unknown): Promise<void> {
  const jar = await cookies();
  const value = writeColumns(columns);
  if (value === null) jar.delete(columnsCookie);
  else jar.set(columnsCookie, value, { path: '/', maxAge: yearSeconds, sameSite: 'lax', httpOnly: true });
}
