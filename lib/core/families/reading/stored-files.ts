import { type Refusal, refusal } from '#lib/core/errors';
import type { ResourceReference } from '#lib/core/facts/resource';
import { wrongType } from '#lib/core/families/reading/fields';
import type { Scan } from '#lib/core/families/scan';

/** Each is looked up, so their number is bounded; no real request names more. */
const MOST_FILES = 1_000;

const named = /(^|\.)file_ids?(\[\])?$/;

/**
 * Files that a body names by `file_id`, or in a list `file_ids`, where its family reads these: they must be the
 * workspace's own (contract: batches/files). Each once, in the order of the body.
 * @returns `invalid_body` for an id of another type, or for too many ids.
 */
export function readFiles({ collected }: Pick<Scan, 'collected'>): readonly ResourceReference[] | Refusal {
  let ids: Set<string> | null = null;
  for (const found of collected) {
    if (!named.test(found.path) || found.type === 'null' || found.type === 'array') continue;
    if (typeof found.value !== 'string') return wrongType(found, 'a string');
    ids ??= new Set();
    ids.add(found.value);
    if (ids.size > MOST_FILES) {
      return refusal('invalid_body', `The request names over ${MOST_FILES} files; name fewer.`);
    }
  }
  return ids === null ? none : [...ids].map((id) => ({ kind: 'file', id, required: true }));
}

const none: readonly ResourceReference[] = [];
