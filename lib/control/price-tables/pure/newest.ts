import type { TableEntry } from '#lib/control/price-tables/pure/table';

type Listed = Pick<TableEntry, 'line' | 'kind' | 'released' | 'deprecated' | 'retires'>;

/**
 * The newest model of the line of another one. A month counts as its first day. Pure.
 * @returns null if none is newer, or it is not known which.
 */
export function newestOfLine<One extends Listed>(of: Listed, models: readonly One[]): One | null {
  if (of.line === null || of.released === null) return null;
  let newest: One | null = null;
  for (const model of models) {
    const same = model.line === of.line && model.kind === of.kind;
    if (!same || model.deprecated || model.retires !== null || model.released === null) continue;
    if (model.released > (newest?.released ?? of.released)) newest = model;
  }
  return newest;
}
