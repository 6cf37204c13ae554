import { createLoader, createSerializer, parseAsString, parseAsStringLiteral } from 'nuqs/server';
import { rangeNames } from '#lib/core/charts/ranges';

/** Whom usage can be added up by, beside the groupings of the usage page. */
export const tagGroupings = [
  { value: 'end-user', label: 'By end user' },
  { value: 'tag', label: 'By tag' },
] as const;

/** What the page of usage by tag shows, as in its URL. */
export const tagUsageParameters = {
  by: parseAsStringLiteral(['end-user', 'tag']).withDefault('end-user'),
  /** Name of the tag; without it, the first one. */
  tag: parseAsString,
  range: parseAsStringLiteral(rangeNames).withDefault('30d'),
  /** As on the usage page. */
  from: parseAsString,
  to: parseAsString,
  q: parseAsString,
  sort: parseAsString,
  columns: parseAsString,
  after: parseAsString,
};

export const loadTagUsage = createLoader(tagUsageParameters);

const serialize = createSerializer(tagUsageParameters);

/** The URL of usage by tag: `tagUsageUrl('/acme/usage/tags', { tag: 'feature' })`. */
export function tagUsageUrl(
  path: string,
  { by, ...asked }: Omit<Parameters<typeof serialize>[1] & object, 'by'> & { by?: string },
): string {
  return serialize(path, { ...asked, by: by === 'tag' ? 'tag' : null });
}
