import { type ListAddress, readListAddress } from '#lib/console/list-address';
import { listLedger } from '#lib/control/operations/ledger/operations';

const { month, kind, from, to, after } = listLedger.fields;

/** The filters of the ledger in an address, of its page and of its file alike. @param zone IANA. */
export function readLedgerAddress(query: Parameters<typeof readListAddress>[1], zone: string): ListAddress {
  const fields = { month, kind, after };
  return readListAddress(query.month ? fields : { ...fields, from, to }, query, zone);
}
