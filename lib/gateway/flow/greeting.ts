/**
 * Whether a client is checking that its base address answers (contract: request/greeting): Claude Code does at each
 * start, and a page would be rendered for it.
 * @param target with its query.
 */
export function isGreeting(method: string | undefined, target: string): boolean {
  return method === 'HEAD' && /^\/(?:api\/hello)?(?:\?|$)/.test(target);
}
