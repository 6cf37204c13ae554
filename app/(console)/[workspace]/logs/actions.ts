'use server';

import { z } from 'zod';
import type { FoundCalls } from '#components/logs/search-content';
import { type ComparedPart, comparedParts } from '#lib/console/content/compare';
import { type ContentRows, contentRowsOf } from '#lib/console/content/rows';
import { getConsoleHost } from '#lib/console/db';
import { findMember } from '#lib/console/member';
import { type ActionResult, operationAction } from '#lib/console/operation';
import { showMoment } from '#lib/console/show/time';
import { showContent } from '#lib/control/operations/content/operations';
import { searchContent } from '#lib/control/operations/content/search';
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

const findContent = operationAction(searchContent);

/** Searches kept content; the audit log records it. */
export async function searchContentAction(slug: string, input: unknown): Promise<ActionResult<FoundCalls>> {
  const found = await findContent(slug, input);
  if (!found.ok) return found;
  const zone = (await findMember(slug))?.workspace.timeZone ?? 'UTC';
  const calls = found.value.data.map(({ at, ...call }) => ({
    ...call,
    when: showMoment(Date.parse(at), zone),
  }));
  return { ok: true, value: { ...found.value, data: calls } };
}

/** Writes whether the answer of a call was any good. */
export const setFeedbackAction = operationAction(setFeedback);
