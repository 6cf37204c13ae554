import type { ShownResource } from '#lib/core/facts/resource';
import { objectIn, textIn } from '#lib/core/families/reading/json';
import type { Scan } from '#lib/core/families/scan';

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
