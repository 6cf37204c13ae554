import { z } from 'zod';
import { conflict } from '#lib/control/operations/refusal';
import { displayOf, hashKey, makeKey } from '#lib/platform/secrets';

/** The only answer that ever contains a key. */
export const madeKey = z.object({
  id: z.uuid(),
  key: z.string().describe('The key itself. It is shown only once.'),
});

/** A new secret, and the columns for what may be stored of it (contract: authentication/key-at-rest). */
export function newSecret(pepper: string) {
  const key = makeKey();
  const { start, end } = displayOf(key);
  return {
    key,
    columns: { hash: new Uint8Array(hashKey(key, pepper)), displayStart: start, displayEnd: end },
  };
}

/** Calls would be real, but the money is not; the database refuses a secret there too. */
export function demoKey() {
  return conflict(
    'keys of the demo workspace have no secret, so that they cannot make calls; use another workspace',
  );
}
