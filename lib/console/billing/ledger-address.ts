import { type ListUrl, readListUrl } from '#lib/console/list-url';
import { listLedger } from '#lib/control/operations/ledger/operations';

const { month, kind, from, to, after } = listLedger.fields;

/** The orders of the ledger, as its columns name them in an address. */
const orders: Readonly<Record<string, string>> = {
  at: 'oldest',
  '-at': 'newest',
  amount: 'smallest',
  '-amount': 'largest',
};

/** The filters of the ledger in an address, of its page and of its file alike. @param zone IANA. */
export function readLedgerAddress(query: Parameters<typeof readListUrl>[1], zone: string): ListUrl {
  const fields = { month, kind, after };
  const address = readListUrl(query.month ? fields : { ...fields, from, to }, query, zone);
  const sort = [query.sort].flat()[0] ?? '';
  if (!Object.hasOwn(orders, sort)) return address;
  return {
    ...address,
    texts: { ...address.texts, sort },
    input: { ...address.input, order: orders[sort] },
  };
}
