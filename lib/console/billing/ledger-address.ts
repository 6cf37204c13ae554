import { type ListAddress, readListAddress } from '#lib/console/list-address';
import { listLedger } from '#lib/control/operations/ledger/operations';

const { month, kind, from, to, after } = listLedger.fields;

/** Reads the filters of the ledger from a URL's query, for its page and its file. @param zone IANA. */
export function readLedgerAddress(query: Parameters<typeof readListAddress>[1], zone: string): ListAddress {
  const fields = { month, kind, after };
  return readListAddress(query.month ? fields : { ...fields, from, to }, query, zone);
}
