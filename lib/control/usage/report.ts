import { z } from 'zod';
import { type WorkspaceScope, within } from '#lib/control/scope';
import type { Store } from '#lib/control/store';
import { inZone } from '#lib/control/time-zone';
import { formatUsd } from '#lib/money';

export const groupings = ['model', 'key', 'provider', 'day'] as const;
export type Grouping = (typeof groupings)[number];

const dollars = z.string().meta({ description: 'Dollars as a decimal string.' });

const usageRow = z.object({
  model: z.string().optional(),
  key: z.string().optional().meta({ description: 'Id of the key.' }),
  name: z.string().nullable().optional().meta({ description: 'Of the key; null: the key is gone.' }),
  provider: z.string().optional(),
  day: z.string().optional().meta({ description: 'In the time zone of the workspace: "2026-07-02".' }),
  calls: z.int().meta({ description: 'How many calls.' }),
  errors: z.int().meta({ description: 'How many of them ended in an error.' }),
  inputTokens: z.int(),
  cachedTokens: z.int(),
  outputTokens: z.int(),
  cost: dollars,
});

/** What "usage" answers (contract: operations/usage). */
export const usageReport = z.object({
  workspace: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  by: z.enum(groupings),
  cost: dollars,
  rows: z.array(usageRow).meta({ description: 'The dearest first; days in order.' }),
});

/** Columns to group by; the only text that enters the statement, never taken from outside. */
const columns: Readonly<Record<Grouping, string>> = {
  model: 'u.model',
  key: 'u.key_id::text',
  provider: 'u.provider',
  day: `to_char(u.hour AT TIME ZONE $4, 'YYYY-MM-DD')`,
};

interface StoredRow {
  grouped: string;
  name: string | null;
  calls: string;
  errors: string;
  input_tokens: string;
  cached_tokens: string;
  output_tokens: string;
  cost_nano: string;
}

/** What the roll-up counts by, ms. */
const stepMs = 3_600_000;

/** A range widened to what the roll-up counts by, so that all of what was asked for is in it. */
export function widened(fromMs: number, toMs: number): { fromMs: number; toMs: number } {
  return { fromMs: Math.floor(fromMs / stepMs) * stepMs, toMs: Math.ceil(toMs / stepMs) * stepMs };
}

/**
 * Usage of a workspace from the hourly roll-up. An hour that a local midnight cuts belongs to the day in
 * which it starts.
 * @param asked `fromMs` and `toMs` since the epoch, [from, to), widened.
 */
export async function reportUsage(
  store: Store,
  scope: WorkspaceScope,
  { fromMs, toMs, by }: { fromMs: number; toMs: number; by: Grouping },
): Promise<z.output<typeof usageReport>> {
  const values: unknown[] = [new Date(fromMs), new Date(toMs)];
  const inside = within(scope, 'u.workspace_id', values);
  const statement = `
    SELECT ${columns[by]} AS grouped, ${by === 'key' ? 'max(k.name)' : 'NULL'} AS name,
       sum(u.calls)::text AS calls, sum(u.errors)::text AS errors, sum(u.input_tokens)::text AS input_tokens,
       sum(u.cached_tokens)::text AS cached_tokens, sum(u.output_tokens)::text AS output_tokens,
       sum(u.cost_nano)::text AS cost_nano
     FROM usage_hour u LEFT JOIN api_key k ON k.id = u.key_id
     WHERE ${inside} AND u.hour >= $1::timestamptz AND u.hour < $2::timestamptz
     GROUP BY 1 ORDER BY ${by === 'day' ? '1' : 'sum(u.cost_nano) DESC, 1'}`;
  const stored =
    by === 'day'
      ? await inZone(scope.timeZone, (zone) => store.query<StoredRow>(statement, [...values, zone]))
      : await store.query<StoredRow>(statement, values);
  return {
    workspace: scope.slug,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    by,
    cost: formatUsd(stored.reduce((sum, row) => sum + BigInt(row.cost_nano), 0n)),
    rows: stored.map((row) => ({
      [by]: row.grouped,
      ...(by === 'key' ? { name: row.name } : {}),
      calls: Number(row.calls),
      errors: Number(row.errors),
      inputTokens: Number(row.input_tokens),
      cachedTokens: Number(row.cached_tokens),
      outputTokens: Number(row.output_tokens),
      cost: formatUsd(BigInt(row.cost_nano)),
    })),
  };
}
