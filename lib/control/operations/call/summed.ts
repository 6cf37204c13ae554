import { noneCounted } from '#lib/control/operations/call/usage-filters';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { readUsage, totalOf } from '#lib/control/operations/usage/sums';
import { quarterMs } from '#lib/gateway/settlement/pure/quarter';

const dayMs = 24 * 3_600_000;
/** Every log has the calls of at least this many days, unless its workspace chose fewer. */
const leastKeptDays = 35;
/** Filters by which usage keeps its sums. */
const summedBy = new Set(['from', 'to', 'key', 'provider', 'countedModel', 'member', 'usage']);

/**
 * The sums of all calls that a search finds, if usage keeps sums of exactly these: whole quarters of an hour that are
 * still in the log, filtered at most by key, provider, counted model, member and whether usage counts them; otherwise null.
 * @param nowMs ms since the epoch.
 */
export async function summedCalls(
  store: Store,
  scope: WorkspaceScope,
  nowMs: number,
  input: Readonly<Record<string, unknown>>,
): Promise<{ calls: number; costNano: bigint; more: false } | null> {
  const given = Object.keys(input).filter((name) => input[name] !== undefined && input[name] !== null);
  if (given.some((name) => !summedBy.has(name) && name !== 'limit' && name !== 'after')) return null;
  const [fromMs, toMs] = [momentOf(input.from), momentOf(input.to)];
  const keptMs = nowMs - Math.min(leastKeptDays, scope.retentionDays ?? leastKeptDays) * dayMs;
  if (fromMs === null || toMs === null || fromMs >= toMs || fromMs < keptMs) return null;
  const counted = (name: string) => (input[name] === noneCounted ? '' : textOf(input[name]));
  const [key, provider, model] = [textOf(input.key), counted('provider'), counted('countedModel')];
  const member = counted('member')?.toLowerCase();
  if (input.usage === 'not-counted') return null;
  const parts = await readUsage(store, scope, {
    range: { fromMs, toMs },
    own: input.usage !== 'counted',
    filters: { key, provider, model, member },
  });
  const { calls, costNano } = totalOf(parts);
  return { calls, costNano, more: false };
}

/** The time if it is the start of a quarter of an hour; null otherwise. */
function momentOf(given: unknown): number | null {
  if (!(given instanceof Date)) return null;
  return given.getTime() % quarterMs === 0 ? given.getTime() : null;
}

function textOf(given: unknown): string | undefined {
  return typeof given === 'string' ? given : undefined;
}
