import { showCount } from '#lib/console/show/money';
import { mostCounted } from '#lib/control/call/search';

/** How many calls a search has found, as `call.list` counts them: "More than 10,000 calls.", "12 calls." */
export function showFound({ calls, more }: { readonly calls: number; readonly more: boolean }): string {
  const text = `${showCount(calls)} ${calls === 1 ? 'call' : 'calls'}`;
  if (!more) return `${text}.`;
  return calls === mostCounted ? `More than ${text}.` : `${text} or more.`;
}
