/** The cookie with the ids of the announcements dismissed in this browser, newest first. */
export const dismissedCookie = 'dismissed-announcements';
const mostKept = 20;

/** @param value of the cookie; untrusted. */
export function readDismissed(value: string | undefined): ReadonlySet<string> {
  return new Set((value ?? '').split('.').filter(isRowId));
}

/**
 * The cookie's value after one more was dismissed.
 * @param value its current one. @param id as the page sent it; untrusted.
 */
export function withDismissed(value: string | undefined, id: unknown): string {
  const known = [...readDismissed(value)];
  if (typeof id !== 'string' || !isRowId(id)) return known.join('.');
  return [...new Set([id, ...known])].slice(0, mostKept).join('.');
}

function isRowId(text: string): boolean {
  return /^[0-9a-f-]{36}$/.test(text);
}
