import { createHash } from 'node:crypto';
import type { State } from '#lib/control/operations/declare';

/** JSON with sorted names, so that equal values are equal strings. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

/** The entity tag of a state: a strong one, with its quotes (contract: control-plane/entity-tags). */
export function etagOf(state: State): string {
  return `"${createHash('sha256').update(canonical(state)).digest('base64url').slice(0, 22)}"`;
}

/** The text of the refusal of a change whose caller saw an earlier state. */
export const changedSince = 'this was changed since you read it; read it again and send its ETag as If-Match';

/** Whether an `If-Match` header allows a change of this state. */
export function matches(ifMatch: string, state: State): boolean {
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  return tags.includes('*') || tags.includes(etagOf(state));
}

/** The differences between two states; if one is null, all of the other. */
export function difference(
  before: State | null,
  after: State | null,
): { before: State | null; after: State | null } {
  if (before === null || after === null) return { before, after };
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...names].filter((name) => canonical(before[name]) !== canonical(after[name]));
  const only = (state: State) => Object.fromEntries(changed.map((name) => [name, state[name] ?? null]));
  return { before: only(before), after: only(after) };
}
