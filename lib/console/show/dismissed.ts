/** The cookie with the ids of the announcements that were put away in a browser, the newest first. */
export const dismissedCookie = 'dismissed-announcements';
const mostKept = 20;

/** @param value of the cookie: anything that somebody put there. */
export function readDismissed(value: string | undefined): ReadonlySet<string> {
  return new Set((value ?? '').split('.').filter(isRowId));
}

/**
 * The cookie's value when one more is put away.
 * @param value that it has. @param id as the page sent it: anything.
 */
export function withDismissed(value: string | undefined, id: unknown): string {
  const known = [...readDismissed(value)];
  if (typeof id !== 'string' || !isRowId(id)) return known.join('.');
  return [...new Set([id, ...known])].slice(0, mostKept).join('.');
}

function isRowId(text: string): boolean {
  return /^[0-9a-f-]{36}$/.test(text);
}
