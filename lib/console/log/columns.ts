/** The columns of the log after its time, in order. */
export const callColumns = [
  'status',
  'model',
  'operation',
  'tokens',
  'speed',
  'cost',
  'latency',
  'key',
  'clientId',
] as const;
export type CallColumn = (typeof callColumns)[number];

/** The columns shown by default. */
export const usualColumns: readonly CallColumn[] = ['status', 'model', 'tokens', 'cost', 'latency', 'key'];

/**
 * The cookie with the chosen columns: one choice per browser, because a phone has less room than a desktop.
 */
export const columnsCookie = 'log-columns';
const none = 'none';

/**
 * The chosen columns in the table's order; null: none were chosen.
 * @param value of the cookie; untrusted.
 */
export function readColumns(value: string | undefined): readonly CallColumn[] | null {
  const words = (value ?? '').split('.');
  const known = callColumns.filter((column) => words.includes(column));
  return known.length > 0 || value === none ? known : null;
}

/**
 * The cookie's value for a choice. @param chosen as the page sent it; untrusted. @returns null: delete the
 * cookie.
 */
export function writeColumns(chosen: unknown): string | null {
  if (!Array.isArray(chosen)) return null;
  return callColumns.filter((column) => chosen.includes(column)).join('.') || none;
}
