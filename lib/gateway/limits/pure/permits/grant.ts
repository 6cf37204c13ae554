import type { WindowEntry } from '#lib/gateway/limits/pure/permit-request';

/**
 * An entry in the window of a key or workspace that this process made, and the permits of it that are still to be
 * used. Monotonic ms.
 */
export interface Grant {
  readonly id: string;
  /** Used: what it weighs when its permits have gone back. */
  requests: number;
  tokens: number;
  spareRequests: number;
  spareTokens: number;
  /** Until when spare permits may be used. */
  spareUntilMono: number;
  usedMono: number;
  /** Whether the store has been told of it. */
  sent: boolean;
}

/** An entry without permits: for what is used without asking. */
export function newGrant(id: string, nowMono: number): Grant {
  return {
    id,
    requests: 0,
    tokens: 0,
    spareRequests: 0,
    spareTokens: 0,
    spareUntilMono: 0,
    usedMono: nowMono,
    sent: false,
  };
}

/** Whether permits of it may still be used. */
export function isSpare(grant: Grant, nowMono: number): boolean {
  return (grant.spareRequests > 0 || grant.spareTokens > 0) && nowMono < grant.spareUntilMono;
}

/** What the store is told of it: permits that may still be used weigh as if they were. */
export function entryOf(grant: Grant, nowMono: number): WindowEntry {
  const { id, requests, tokens, usedMono } = grant;
  if (!isSpare(grant, nowMono)) return { id, requests, tokens, ageMs: Math.max(0, nowMono - usedMono) };
  return {
    id,
    requests: requests + grant.spareRequests,
    tokens: tokens + grant.spareTokens,
    ageMs: nowMono - grant.spareUntilMono,
  };
}
