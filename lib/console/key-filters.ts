import { createLoader, createSerializer, parseAsString } from 'nuqs/server';

/** What the list of keys may be narrowed by, as it stands in the address. */
export const keyFilters = {
  /** Part of a name, of the shown characters, or a whole key id. */
  q: parseAsString,
  /** Where the page above ended. */
  after: parseAsString,
};

export const loadKeyFilters = createLoader(keyFilters);

/** The address of the list with these filters: `keyAddress('/acme/keys', { q: 'web' })`. */
export const keyAddress = createSerializer(keyFilters);

const wholeKey = /\b(mg_[0-9A-Za-z]{4})[0-9A-Za-z]{41}([0-9A-Za-z]{4})\b/g;

/** A key that was pasted whole is looked for by what is shown of it: it must not get into the address. */
export function withoutSecret(search: string): string {
  return search.replace(wholeKey, '$1…$2');
}
