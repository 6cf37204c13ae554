import { z } from 'zod';
import { conflict } from '#lib/control/operations/refusal';
import { displayOf, hashKey, makeKey } from '#lib/platform/secrets';

/** The answer that carries a new key: the only one that ever does. */
export const madeKey = z.object({
  id: z.uuid(),
  key: z.string().meta({ description: 'The key itself. This is the only time that it is shown.' }),
});

/** A new secret, and the columns that keep what may be kept of it (contract: authentication/key-at-rest). */
export function newSecret(pepper: string) {
  const key = makeKey();
  const { start, end } = displayOf(key);
  return {
    key,
    columns: { hash: new Uint8Array(hashKey(key, pepper)), displayStart: start, displayEnd: end },
  };
}

/** Its calls would be real and its money is not; the database refuses a secret there too. */
export function demoKey() {
  return conflict(
    'keys of the demo workspace have no secret, so that nothing in it can call; use another workspace',
  );
}
