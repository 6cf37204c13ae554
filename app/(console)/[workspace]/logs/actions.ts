'use server';

import { z } from 'zod';
import { type ComparedPart, comparedParts } from '#lib/console/content/compare';
import { type ContentRows, contentRowsOf } from '#lib/console/content/rows';
import { getConsoleHost } from '#lib/console/db';
import { type ActionResult, operationAction } from '#lib/console/operation';
import { showContent } from '#lib/control/operations/content/operations';
import type { ShownContent } from '#lib/control/operations/content/shown';
import { setFeedback } from '#lib/control/operations/feedback/operations';

const readContent = operationAction(showContent);

/** Reads what a call was asked and answered; the audit log records it. */
export async function showContentAction(slug: string, input: unknown): Promise<ActionResult<ContentRows>> {
  const found = await readContent(slug, input);
  return found.ok ? { ok: true, value: rowsOf(found.value) } : found;
}

/** Reads two calls and compares them line by line; the audit log records both readings. */
export async function compareCallsAction(
  slug: string,
  input: unknown,
): Promise<ActionResult<readonly ComparedPart[]>> {
  const ids = z.object({ one: z.string(), other: z.string() }).safeParse(input);
  if (!ids.success) return { ok: false, message: 'Choose two calls.', field: null, signedOut: false };
  const one = await readContent(slug, { id: ids.data.one });
  if (!one.ok) return one;
  const other = await readContent(slug, { id: ids.data.other });
  return other.ok ? { ok: true, value: comparedParts(rowsOf(one.value), rowsOf(other.value)) } : other;
}

function rowsOf(content: ShownContent): ContentRows {
  return contentRowsOf(content, content, getConsoleHost().env.publicUrl);
}

/** Writes whether the answer of a call was any good. */
export const setFeedbackAction = operationAction(setFeedback);
