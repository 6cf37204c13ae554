import { createLoader, createSerializer, parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** Filters and order of the list of keys, as in the URL. */
export const keyFilters = {
  /** Part of a name or of the visible characters, or a whole key id. */
  q: parseAsString,
  status: parseAsStringLiteral(['active', 'inactive', 'revoked']),
  /** Id of the user who created it. */
  createdBy: parseAsString,
  /** A model that it may call. */
  model: parseAsString,
  /** The order, as the operation takes it. */
  sort: parseAsString,
  /** The columns of a shared link. */
  columns: parseAsString,
  /** Where the page above ended. */
  after: parseAsString,
};

export const loadKeyFilters = createLoader(keyFilters);

/** The URL of the list with these filters: `keyUrl('/acme/keys', { q: 'web' })`. */
export const keyUrl = createSerializer(keyFilters);

const wholeKey = /\b(mg_[0-9A-Za-z]{4})[0-9A-Za-z]{41}([0-9A-Za-z]{4})\b/g;

/** Replaces a pasted key by its visible characters, because the secret must not get into the URL. */
export function withoutSecret(search: string): string {
  return search.replace(wholeKey, '$1…$2');
}
