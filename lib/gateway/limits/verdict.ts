import type { LimitWaits } from '#lib/gateway/limits/pure/limit-waits';
import type { Held, Permits, Take } from '#lib/gateway/limits/pure/permits/permits';

export type LimitVerdict =
  /** It has what it takes, of its key and its workspace, until it is given back or its call ends. */
  | { readonly kind: 'held'; readonly held: readonly [Held, Held] }
  | { readonly kind: 'refused'; readonly waits: readonly [LimitWaits, LimitWaits] }
  /** The store is away: this process decides by its share of the limits. */
  | { readonly kind: 'alone' };

/** What a call takes, and of whom. */
export interface WantedLimits {
  readonly take: Take;
  readonly key: Permits;
  readonly workspace: Permits;
}
