import { type Refusal, refusal } from '#lib/core/errors';
import type { ResourceReference, ShownResource } from '#lib/core/facts/resource';
import { wrongType } from '#lib/core/families/reading/fields';
import { listIn, objectIn, textIn } from '#lib/core/families/reading/json';
import type { Scan } from '#lib/core/families/scan';

const path = 'messages[].audio.id';

/** Each is looked up, so their number is bounded; no real conversation has more spoken answers. */
const MOST_SPOKEN = 1_000;

/**
 * Earlier answers that were spoken: a request only repeats their ids, so they must be the
 * workspace's own (contract: jobs/pinning). Each once, in the order of the body.
 * @returns null where none is named; `invalid_body` for an id of another type, or for more than
 * `MOST_SPOKEN` ids.
 */
export function readSpoken({ collected }: Scan): readonly ResourceReference[] | null | Refusal {
  let ids: Set<string> | null = null;
  for (const found of collected) {
    if (found.path !== path || found.type === 'null') continue;
    if (typeof found.value !== 'string') return wrongType(found, 'a string');
    ids ??= new Set();
    ids.add(found.value);
  }
  if (ids === null) return null;
  if (ids.size > MOST_SPOKEN) {
    return refusal('invalid_body', `The messages refer to over ${MOST_SPOKEN} spoken answers; send fewer.`);
  }
  return [...ids].map((id) => ({ kind: 'item', id, required: true }));
}

/** Whether an answer may be spoken: only if the request names a voice. */
export function mayBeSpoken({ found }: Scan): boolean {
  return found.has('audio');
}

/** The spoken choices of a whole answer (`message`) or of a chunk (`delta`). */
export function spokenIn(answer: unknown): readonly ShownResource[] {
  return listIn(objectIn(answer)?.choices).flatMap((value) => {
    const choice = objectIn(value);
    const said = objectIn(choice?.delta) ?? objectIn(choice?.message);
    const id = textIn(objectIn(said?.audio)?.id);
    return id === null ? [] : [{ kind: 'item', id } as const];
  });
}
