import { controlTexts, type ErrorText, errorTexts } from '#lib/console/guide/error-texts';
import { controlCodes } from '#lib/control/operations/refusal';
import { errorTable } from '#lib/core/errors';

export interface ListedError extends ErrorText {
  readonly code: string;
  readonly status: number;
}

/** Every code with which the gateway answers calls, in the order of its table. */
export function listErrors(): ListedError[] {
  return Object.entries(errorTexts)
    .map(([code, text]) => ({ code, status: errorTable[code as keyof typeof errorTable].status, ...text }))
    .sort((one, other) => one.status - other.status);
}

/** The codes that only the management API returns. */
export function listControlErrors(): ListedError[] {
  const statuses: Readonly<Record<string, number>> = { ...controlCodes, internal_error: 500 };
  return Object.entries(controlTexts).map(([code, text]) => ({
    code,
    status: statuses[code] ?? 500,
    ...text,
  }));
}

/** The same as Markdown, for readers of the repository; each code is a heading and so an anchor. */
export function errorsInMarkdown(errors: readonly ListedError[]): string {
  return errors
    .map(({ code, status, meaning, remedy }) => `### ${code}\n\n**${status}.** ${meaning} *${remedy}*\n`)
    .join('\n');
}
