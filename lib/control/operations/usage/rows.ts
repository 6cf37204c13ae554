import { z } from 'zod';
import { badInput } from '#lib/control/operations/refusal';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { ReadStore } from '#lib/control/operations/store';
import { figuresOf, usageFigures } from '#lib/control/operations/usage/figures';
import { merged, namesOf } from '#lib/control/operations/usage/report';
import { iso, readTimed, seriesSplits, type TimedQuery } from '#lib/control/operations/usage/series';
import { steps } from '#lib/core/charts/buckets';

/** The most rows of one answer. */
const mostRows = 100_000;

const row = z.object({
  start: z.iso.datetime(),
  end: z.iso.datetime().describe('Exclusive.'),
  value: z.string().describe('Value of the split; empty: calls without one, or no split.'),
  name: z
    .string()
    .nullable()
    .describe('Name of a key or member; null: it no longer exists, or another split.'),
  ...usageFigures.shape,
});

/** Usage over time as rows. */
export const usageRows = z.object({
  workspace: z.string(),
  timeZone: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  step: z.enum(steps),
  by: z.enum(seriesSplits).nullable(),
  rows: z.array(row).describe('By time, then by value; empty rows are left out.'),
});

/**
 * Usage over time as rows, with all groups.
 * @throws ControlRefused if there would be too many.
 */
export async function readRows(
  store: ReadStore,
  scope: WorkspaceScope,
  asked: TimedQuery,
): Promise<z.output<typeof usageRows>> {
  const { range, zone, startsMs, parts } = await readTimed(store, scope, asked);
  const found = merged(parts, ({ bucket, value }) => `${String(bucket).padStart(6, '0')} ${value}`);
  if (found.length > mostRows) {
    const most = mostRows.toLocaleString('en-US');
    throw badInput(
      'step',
      `an answer may have at most ${most} rows; choose a longer step or a shorter range`,
    );
  }
  found.sort((a, b) => (a.value < b.value ? -1 : 1));
  const rows = found.map(({ value, sums }) => ({
    at: Number(value.slice(0, 6)),
    value: value.slice(7),
    sums,
  }));
  const names = await namesOf(store, scope, asked.by, [...new Set(rows.map(({ value }) => value))]);
  return {
    workspace: scope.slug,
    timeZone: zone,
    ...iso(range),
    step: asked.step,
    by: asked.by,
    rows: rows.map(({ at, value, sums }) => ({
      start: new Date(startsMs[at] ?? range.fromMs).toISOString(),
      end: new Date(startsMs[at + 1] ?? range.toMs).toISOString(),
      value,
      name: names?.get(value) ?? null,
      ...figuresOf(sums),
    })),
  };
}
