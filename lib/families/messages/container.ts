import { type Refusal, refusal } from '#lib/errors';
import { objectIn, textIn } from '#lib/families/reading/json';
import type { Scan } from '#lib/families/scan';
import type { ResourceReference, ShownResource } from '#lib/resources/resource';

/**
 * The container that a request runs its tools in, with all that earlier calls left there: it must be the
 * workspace's own (decisions §11 "Server-held state").
 * @returns null when the provider makes a fresh one; `invalid_body` for a name of another type.
 */
export function readContainer({ found }: Scan): ResourceReference | null | Refusal {
  const outer = found.get('container');
  const named = outer?.type === 'object' ? found.get('container.id') : outer;
  if (!named) return null;
  if (typeof named.value === 'string') return { kind: 'item', id: named.value, required: true };
  return refusal('invalid_body', `Field "${named.path}" (byte ${named.start}) must be a string.`);
}

/** Whether an answer may show a container: none is made but for a tool that runs code, or for skills. */
export function mayShowContainer({ found, collected }: Scan): boolean {
  if (found.has('container')) return true;
  return collected.some(
    ({ path, value }) =>
      path === 'tools[].type' && typeof value === 'string' && value.startsWith('code_execution'),
  );
}

/** The container that a message, or the delta of one, says it ran in. */
export function containerIn(message: unknown): readonly ShownResource[] {
  const id = textIn(objectIn(objectIn(message)?.container)?.id);
  return id === null ? [] : [{ kind: 'item', id }];
}
