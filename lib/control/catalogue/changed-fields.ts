import { isDeepStrictEqual } from 'node:util';

type Fields = Readonly<Record<string, unknown>>;

/** The names of the fields of `after` whose values differ from those before. Pure. */
export function changedFields(before: Fields, after: Fields): string[] {
  return Object.keys(after).filter((name) => !isDeepStrictEqual(before[name], after[name]));
}
