import { createLoader, createSerializer, parseAsString, parseAsStringLiteral } from 'nuqs/server';

const statusClasses = ['2xx', '4xx', '5xx'] as const;

/** What the call log may be narrowed by, as it stands in the address; shared by page and filter bar. */
export const logFilters = {
  /** First characters of a request id, or the whole of it. */
  id: parseAsString,
  status: parseAsStringLiteral(statusClasses),
  model: parseAsString,
  /** Key id. */
  key: parseAsString,
  /** Calls before this one: the last id of the page above. */
  before: parseAsString,
};

export const loadLogFilters = createLoader(logFilters);

/** The address of the log with these filters: `logAddress('/acme/logs', { status: '4xx' })`. */
export const logAddress = createSerializer(logFilters);
