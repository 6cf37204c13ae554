import { type ListUrl, readListUrl } from '#lib/console/list-url';
import { listCalls } from '#lib/control/operations/call/operations';

const { limit: _limit, count: _count, settledAfter: _settledAfter, ...shown } = listCalls.fields;

/**
 * Reads the filters of the log from a URL's query, for its page, its file and its live tail. @param zone
 * IANA.
 */
export function readLogAddress(query: Parameters<typeof readListUrl>[1], zone: string): ListUrl {
  return readListUrl(shown, query, zone);
}
