import { noneCounted } from '#lib/control/operations/call/usage-filters';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { readUsage, type Sums, totalOf } from '#lib/control/operations/usage/sums';
import { quarterMs } from '#lib/gateway/settlement/pure/quarter';

const dayMs = 24 * 3_600_000;
/** Every log has the calls of at least this many days, unless its workspace chose fewer. */
const leastKeptDays = 35;
/** Filters by which usage keeps its sums. */
const summedBy = new Set(['from', 'to', 'key', 'provider', 'countedModel', 'member', 'usage']);

/** The classes of usage that make up a call's tokens, as the log shows them. */
export const shownTokens = ['input', 'cachedInput', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;

/**
 * The sums of all calls that a search finds, if usage keeps sums of exactly these: whole quarters of an hour that are
 * still in the log, filtered at most by key, provider, counted model, member and whether usage counts them; otherwise null.
 * @param nowMs ms since the epoch.
 */
export async function summedCalls(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  nowMs: number,
  input: Readonly<Record<string, unknown>>,
): Promise<{ calls: number; costNano: bigint; more: false } | null> {
  const total = await summed(store, scope, nowMs, input);
  return total && { calls: total.calls, costNano: total.costNano, more: false };
}

/** Their figures, in the same cases. Durations in ms, at most 5% off (contract: call-log/histograms). */
export async function summedFigures(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  nowMs: number,
  input: Readonly<Record<string, unknown>>,
) {
  const total = await summed(store, scope, nowMs, input);
  if (total === null) return null;
  const { calls, costNano, errors, used, latency } = total;
  return {
    calls,
    errors: Object.values(errors).reduce((sum, one) => sum + one, 0),
    costNano,
    tokens: shownTokens.reduce((sum, name) => sum + used[name], 0),
    p50Ms: latency.quantile(0.5),
    p95Ms: latency.quantile(0.95),
  };
}

async function summed(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  nowMs: number,
  input: Readonly<Record<string, unknown>>,
): Promise<Sums | null> {
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
  return totalOf(parts);
}

/** The time if it is the start of a quarter of an hour; null otherwise. */
function momentOf(given: unknown): number | null {
  if (!(given instanceof Date)) return null;
  return given.getTime() % quarterMs === 0 ? given.getTime() : null;
}

function textOf(given: unknown): string | undefined {
  return typeof given === 'string' ? given : undefined;
}
