/** Every escape that JSON.stringify writes; NUL and half of a surrogate pair are those that jsonb refuses. */
const escapes = /\\(u0000|ud[89a-f]..|.)/g;

/**
 * A value as JSON that the database takes, whatever its strings contain: what a provider or a client wrote must
 * not keep a job from being opened or settled.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(escapes, (found, what: string) =>
    what.length > 1 ? '\ufffd' : found,
  );
}
