import type { ContentRule } from '#lib/core/facts/snapshot';

/**
 * Whether the content of a call may be kept, as far as that is known before its answer (contract: content/which).
 * @param header `X-Gateway-Content` of the request.
 */
export function mayKeep(rule: ContentRule | null, callId: string, header: string | undefined): boolean {
  if (rule === null || header?.trim().toLowerCase() === 'off') return false;
  return isDrawn(callId, rule.share);
}

/** Whether an ended call is one of those that the rule keeps. @param failed it was answered with an error. */
export function keepsEnded(rule: ContentRule, failed: boolean): boolean {
  return rule.mode === 'all' || failed;
}

/** By the random end of the id, a UUIDv7. @param share percent. */
function isDrawn(callId: string, share: number): boolean {
  if (share >= 100) return true;
  const drawn = Number.parseInt(callId.slice(-8), 16);
  return drawn / 2 ** 32 < share / 100;
}
