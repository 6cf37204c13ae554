type Stored = Readonly<Record<string, unknown>>;

/** Two changes of one policy, joined. */
export interface Merged {
  readonly policy: Stored;
  /** Keys that both changed, and differently: mine win. */
  readonly both: readonly string[];
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Joins two people's changes of one policy, key by key: if one of them left a key unchanged, the other's value is
 * taken. Pure.
 * @param base what both started from.
 */
export function mergeChanges(base: Stored, mine: Stored, theirs: Stored): Merged {
  const policy: Record<string, unknown> = {};
  const both: string[] = [];
  for (const key of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const untouched = same(mine[key], base[key]);
    const value = untouched ? theirs[key] : mine[key];
    if (!untouched && !same(theirs[key], base[key]) && !same(mine[key], theirs[key])) both.push(key);
    if (value !== undefined) policy[key] = value;
  }
  return { policy, both };
}
