import { createLoader, createSerializer, parseAsString } from 'nuqs/server';

/** The filters of the list of keys, as in the URL. */
export const keyFilters = {
  /** Part of a name or of the visible characters, or a whole key id. */
  q: parseAsString,
  /** Where the previous page ended. */
  after: parseAsString,
};

export const loadKeyFilters = createLoader(keyFilters);

/** The URL of the list with these filters: `keyAddress('/acme/keys', { q: 'web' })`. */
export const keyAddress = createSerializer(keyFilters);

const wholeKey = /\b(mg_[0-9A-Za-z]{4})[0-9A-Za-z]{41}([0-9A-Za-z]{4})\b/g;

/** Replaces a pasted key by its visible characters, because the secret must not get into the URL. */
export function withoutSecret(search: string): string {
  return search.replace(wholeKey, '$1…$2');
}
