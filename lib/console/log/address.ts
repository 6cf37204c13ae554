import { type ListAddress, readListAddress } from '#lib/console/list-address';
import { listCalls } from '#lib/control/operations/call/operations';

const { limit: _limit, count: _count, settledAfter: _settledAfter, ...shown } = listCalls.fields;

/**
 * Reads the filters of the log from a URL's query, for its page, its file and its live tail. @param zone
 * IANA.
 */
export function readLogAddress(query: Parameters<typeof readListAddress>[1], zone: string): ListAddress {
  return readListAddress(shown, query, zone);
}
