import { type ListAddress, readListAddress } from '#lib/console/list-address';
import { listCalls } from '#lib/control/operations/call/operations';

const { limit: _limit, count: _count, settledAfter: _settledAfter, ...shown } = listCalls.fields;

/** The filters of the log in an address: of its page, its file and its tail alike. @param zone IANA. */
export function readLogAddress(query: Parameters<typeof readListAddress>[1], zone: string): ListAddress {
  return readListAddress(shown, query, zone);
}
