/** How often something may happen. */
export interface Limit {
  /** What is counted, and for whom: "sign-in pair 192.0.2.1 ann@example.com". Parts of it are untrusted. */
  readonly id: string;
  readonly most: number;
  readonly windowSeconds: number;
}

/**
 * Counts manual attempts: signing in and up, links and passwords. Calls of the gateway have their own limits. In one
 * process, or shared by several (contract: control-plane/throttles).
 */
export interface Throttle {
  /**
   * Counts one attempt under all of these limits, or under none if one of them is used up.
   * @returns 0, or the seconds until another attempt is possible.
   */
  claim(limits: readonly Limit[]): Promise<number>;
  /** Takes one booked attempt back. */
  giveBack(limit: Limit): Promise<void>;
  /** Forgets what was booked under a limit. */
  forget(limit: Limit): Promise<void>;
  /** Remembers a fact about an id, for at least a month where there is room. */
  mark(id: string): Promise<void>;
  isMarked(id: string): Promise<boolean>;
}
