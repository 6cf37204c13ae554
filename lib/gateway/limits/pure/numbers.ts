/** Limit and what is left of it; null: no limit of that kind. */
export type LimitNumber = { readonly limit: number; readonly remaining: number } | null;

/** Numbers of the tighter of key and workspace (contract: limits/headers). */
export interface LimitNumbers {
  readonly requests: LimitNumber;
  readonly tokens: LimitNumber;
}

export function tighter(one: LimitNumber, other: LimitNumber): LimitNumber {
  if (!one || !other) return one ?? other;
  return other.remaining < one.remaining ? other : one;
}
