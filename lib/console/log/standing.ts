import { spanStart } from '#lib/control/operations/call/span';

/** Fixes the end of a range that ends now; otherwise it would move with every page. */
export function standing(
  { last, ...input }: Readonly<Record<string, unknown>>,
  nowMs: number,
): Record<string, unknown> {
  const from = spanStart(last, nowMs);
  return { to: new Date(nowMs).toISOString(), ...(from ? { from: from.toISOString() } : {}), ...input };
}
