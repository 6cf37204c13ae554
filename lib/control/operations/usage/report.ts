import { z } from 'zod';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { byCost, dollars, figuresOf, usageFigures } from '#lib/control/operations/usage/figures';
import { type Range, storedPart, wholeDays } from '#lib/control/operations/usage/range';
import {
  addSums,
  noSums,
  readUsage,
  type Sums,
  totalOf,
  type UsageFilters,
} from '#lib/control/operations/usage/sums';
import { bucketStarts } from '#lib/core/charts/buckets';
import { dayName, knownZone } from '#lib/core/charts/zone';

export const groupings = ['model', 'key', 'provider', 'member', 'day'] as const;
export type Grouping = (typeof groupings)[number];

const usageRow = z.object({
  model: z.string().optional(),
  key: z.string().optional().describe('Id of the key.'),
  name: z
    .string()
    .nullable()
    .optional()
    .describe('Name of the key or member; null: it no longer exists, or the key has no maker.'),
  member: z
    .string()
    .optional()
    .describe('Id of the user who made the keys; empty: keys that operators made.'),
  provider: z.string().optional(),
  day: z.string().optional().describe('In the workspace’s time zone: "2026-07-02".'),
  ...usageFigures.shape,
});

/** The answer of "usage" (contract: operations/usage). */
export const usageReport = z.object({
  workspace: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  timeZone: z.string(),
  by: z.enum(groupings),
  cost: dollars,
  total: usageFigures,
  rows: z.array(usageRow).describe('Most expensive first; days in order, without empty ones.'),
});

/**
 * Usage of a workspace in a range, grouped.
 * @param asked the range is already extended; `by` day: in the workspace's time zone.
 */
export async function reportUsage(
  store: Store,
  scope: WorkspaceScope,
  asked: {
    readonly range: Range;
    readonly by: Grouping;
    readonly filters: UsageFilters;
    readonly durations: boolean;
  },
): Promise<z.output<typeof usageReport>> {
  const { by, filters, durations } = asked;
  const zone = knownZone(scope.timeZone);
  const range = await wholeDays(store, scope, asked.range);
  const startsMs = by === 'day' ? await daysOf(store, scope, range, zone) : undefined;
  const split = by === 'day' ? undefined : by;
  const parts = merged(
    await readUsage(store, scope, { range, split, startsMs, filters, durations, feedback: true }),
    ({ bucket, value }) => (startsMs ? dayName(startsMs[bucket] ?? range.fromMs, zone) : value),
  );
  const ordered = by === 'day' ? parts.sort((a, b) => (a.value < b.value ? -1 : 1)) : parts.sort(byCost);
  const names = await namesOf(
    store,
    scope,
    by,
    ordered.map(({ value }) => value),
  );
  const total = totalOf(ordered);
  return {
    workspace: scope.slug,
    from: new Date(range.fromMs).toISOString(),
    to: new Date(range.toMs).toISOString(),
    timeZone: zone,
    by,
    cost: figuresOf(total).cost,
    total: figuresOf(total),
    rows: ordered.map(({ value, sums }) => ({
      [by]: value,
      ...(names ? { name: names.get(value) ?? null } : {}),
      ...figuresOf(sums),
    })),
  };
}

/** Starts of the days from the first to the last with usage. */
async function daysOf(store: Store, scope: WorkspaceScope, range: Range, zone: string): Promise<number[]> {
  const part = await storedPart(store, scope, range);
  return part ? bucketStarts(part.fromMs, part.toMs, 'day', zone) : [];
}

/** Parts with the same name, added up. */
export function merged<P extends { readonly sums: Sums }>(
  parts: readonly P[],
  nameOf: (part: P) => string,
): { readonly value: string; readonly sums: Sums }[] {
  const found = new Map<string, Sums>();
  for (const part of parts) {
    const name = nameOf(part);
    const sum = found.get(name) ?? noSums();
    found.set(name, sum);
    addSums(sum, part.sums);
  }
  return [...found].map(([value, sums]) => ({ value, sums }));
}

const nameQueries: Readonly<Record<string, string>> = {
  key: 'SELECT id::text AS id, name FROM api_key WHERE workspace_id = $1::uuid AND id::text = ANY ($2::text[])',
  // Only of those who made a key here, so that no other user can be asked for.
  member: `SELECT u.id::text AS id, coalesce(u.name, u.email) AS name FROM "user" u WHERE u.id::text = ANY ($2::text[])
    AND EXISTS (SELECT FROM api_key k WHERE k.workspace_id = $1::uuid AND k.created_by = u.id)`,
};

/** Names of keys or members by their ids; former ones have none. @returns null: groups of other kinds have no names. */
export async function namesOf(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  by: string | null,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string> | null> {
  const query = by === null ? undefined : nameQueries[by];
  if (query === undefined) return null;
  const rows = await store.query<{ id: string; name: string }>(query, [scope.workspaceId, ids]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
