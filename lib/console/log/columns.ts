/** The columns of the log behind its time, in their order. */
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

/** What is shown until somebody chooses. */
export const usualColumns: readonly CallColumn[] = ['status', 'model', 'tokens', 'cost', 'latency', 'key'];

/** The cookie of the choice: it belongs to a browser, because a phone has room for other columns than a desk. */
export const columnsCookie = 'log-columns';
const none = 'none';

/**
 * The chosen columns in the order of the table; null: nobody has chosen.
 * @param value of the cookie: anything that somebody put there.
 */
export function readColumns(value: string | undefined): readonly CallColumn[] | null {
  const words = (value ?? '').split('.');
  const known = callColumns.filter((column) => words.includes(column));
  return known.length > 0 || value === none ? known : null;
}

/** The cookie's value for a choice. @param chosen as the page sent it: anything. @returns null: forget the choice. */
export function writeColumns(chosen: unknown): string | null {
  if (!Array.isArray(chosen)) return null;
  return callColumns.filter((column) => chosen.includes(column)).join('.') || none;
}
