'use server';

import { type ContentRows, contentRowsOf } from '#lib/console/content/rows';
import { type ActionResult, operationAction } from '#lib/console/operation';
import { showContent } from '#lib/control/operations/content/operations';
import { setFeedback } from '#lib/control/operations/feedback/operations';

const writeFeedback = operationAction(setFeedback);
const readContent = operationAction(showContent);

/** Reads what a call was asked and answered; the audit log records it. */
export async function showContentAction(slug: string, input: unknown): Promise<ActionResult<ContentRows>> {
  const found = await readContent(slug, input);
  return found.ok ? { ok: true, value: contentRowsOf(found.value.family, found.value) } : found;
}

/** Writes whether the answer of a call was any good. */
export async function setFeedbackAction(slug: string, input: unknown): Promise<ActionResult<null>> {
  const written = await writeFeedback(slug, input);
  return written.ok ? { ok: true, value: null } : written;
}
