'use server';

import { cookies } from 'next/headers';
import { columnsCookie, writeColumns } from '#lib/console/log/columns';
import { type ActionResult, operationAction } from '#lib/console/operation';
import { type ContentRows, contentRowsOf } from '#lib/console/content/rows';
import { showContent } from '#lib/control/operations/content/operations';

const readContent = operationAction(showContent);

/** Reads what a call was asked and answered; the audit log records it. */
export async function showContentAction(slug: string, input: unknown): Promise<ActionResult<ContentRows>> {
  const found = await readContent(slug, input);
  return found.ok ? { ok: true, value: contentRowsOf(found.value.family, found.value) } : found;
}

const yearSeconds = 365 * 86_400;

/** Remembers, only in this browser, which columns the log shows. @param columns null: the default columns. */
export async function chooseColumnsAction(columns: unknown): Promise<void> {
  const jar = await cookies();
  const value = writeColumns(columns);
  if (value === null) jar.delete(columnsCookie);
  else jar.set(columnsCookie, value, { path: '/', maxAge: yearSeconds, sameSite: 'lax', httpOnly: true });
}
