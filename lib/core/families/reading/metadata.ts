import type { ResourceView } from '#lib/core/facts/resource';
import { objectIn } from '#lib/core/families/reading/json';
import type { Scan } from '#lib/core/families/scan';

/** The protocol's own limits: pairs, and characters of a key and of a value. */
const MOST_PAIRS = 16;
const LONGEST_KEY = 64;
const LONGEST_VALUE = 512;
/** Bytes in which any metadata within these limits can be written. */
const MOST_BYTES = 64 * 1024;

/** The labels of a request; none if they exceed the protocol's limits, which its provider refuses. */
export function readMetadata({ body, found }: Pick<Scan, 'body' | 'found'>): ResourceView {
  const at = found.get('metadata');
  if (at?.type !== 'object' || at.end - at.start > MOST_BYTES) return {};
  return metadataOf(JSON.parse(new TextDecoder().decode(body.subarray(at.start, at.end))));
}

/** Labels as a parsed body has them: only strings, and no more than the protocol allows. */
export function metadataOf(value: unknown): ResourceView {
  const pairs = Object.entries(objectIn(value) ?? {}).filter(
    ([key, label]) => key.length <= LONGEST_KEY && typeof label === 'string' && label.length <= LONGEST_VALUE,
  );
  return pairs.length > MOST_PAIRS ? {} : Object.fromEntries(pairs);
}
