import { z } from 'zod';
import { bucketStarts, type Step, steps } from '#lib/charts/buckets';
import { knownZone } from '#lib/charts/zone';
import { badInput } from '#lib/control/refusal';
import type { WorkspaceScope } from '#lib/control/scope';
import type { Store } from '#lib/control/store';
import { byCost, dollars, errorsOf, figuresOf, quantilesOf, usageFigures } from '#lib/control/usage/figures';
import { type Range, rangeBefore, wholeDays, widened } from '#lib/control/usage/range';
import { keyNames, merged } from '#lib/control/usage/report';
import {
  addSums,
  noSums,
  readUsage,
  type Split,
  type SplitSums,
  type Sums,
  splits,
  totalOf,
  type UsageFilters,
} from '#lib/control/usage/sums';
import { formatUsd } from '#lib/money';

/** 31 days of quarters and a little more. */
const mostBuckets = 3_000;
const lengthsMs: Readonly<Record<Step, number>> = { quarter: 900_000, hour: 3_600_000, day: 86_400_000 };
/** Groups shown by themselves; the others are one. */
const mostGroups = 10;

const point = usageFigures.pick({
  calls: true,
  errors: true,
  inputTokens: true,
  cachedTokens: true,
  outputTokens: true,
  latencyMs: true,
  firstByteMs: true,
  cost: true,
});

const group = z.object({
  value: z
    .string()
    .nullable()
    .meta({ description: 'The model, key id or provider; null: all others, or no split.' }),
  name: z.string().nullable().meta({ description: 'Of a key.' }),
  total: usageFigures,
  points: z.array(point).meta({ description: 'One for each of `starts`, empty ones too.' }),
});

/** A chart of usage over time. */
export const usageSeries = z.object({
  workspace: z.string(),
  timeZone: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  step: z.enum(steps),
  by: z.enum(splits).nullable(),
  cost: dollars,
  total: usageFigures,
  starts: z
    .array(z.iso.datetime())
    .meta({ description: 'Where each point begins; the last ends with the range.' }),
  groups: z
    .array(group)
    .meta({ description: `The dearest first, at most ${mostGroups}; then all others as one.` }),
  before: z
    .object({ from: z.iso.datetime(), to: z.iso.datetime(), total: usageFigures })
    .meta({ description: 'The period of the same length before.' }),
});

export interface SeriesAsk {
  /** Widened already. */
  readonly range: Range;
  readonly step: Step;
  readonly by: Split | null;
  readonly filters: UsageFilters;
  readonly nowMs: number;
}

/**
 * Usage over time, stacked by a split, beside the period before.
 * @throws ControlRefused when it would have too many points.
 */
export async function readSeries(
  store: Store,
  scope: WorkspaceScope,
  { range: asked, step, by, filters, nowMs }: SeriesAsk,
): Promise<z.output<typeof usageSeries>> {
  const zone = knownZone(scope.timeZone);
  const range = await wholeDays(store, scope, asked);
  if ((range.toMs - range.fromMs) / lengthsMs[step] > mostBuckets) {
    throw badInput(
      'step',
      `a series has at most ${mostBuckets} points; choose a longer step or a shorter range`,
    );
  }
  const startsMs = bucketStarts(range.fromMs, range.toMs, step, zone);
  const parts = await readUsage(store, scope, { range, split: by ?? undefined, startsMs, filters });
  const earlier = await wholeDays(store, scope, widened(rangeBefore(range, zone), zone, nowMs));
  const before = totalOf(await readUsage(store, scope, { range: earlier, filters }));
  const total = figuresOf(totalOf(parts));
  return {
    workspace: scope.slug,
    timeZone: zone,
    ...iso(range),
    step,
    by,
    cost: total.cost,
    total,
    starts: startsMs.map((at) => new Date(at).toISOString()),
    groups: await groupsOf(store, scope, by, parts, startsMs.length),
    before: { ...iso(earlier), total: figuresOf(before) },
  };
}

async function groupsOf(
  store: Store,
  scope: WorkspaceScope,
  by: Split | null,
  parts: readonly SplitSums[],
  length: number,
): Promise<z.output<typeof group>[]> {
  if (by === null) return [groupOf(null, null, parts, length)];
  const ranked = merged(parts, ({ value }) => value).sort(byCost);
  const shown = ranked.slice(0, mostGroups).map(({ value }) => value);
  const byValue = Map.groupBy(parts, ({ value }) => (shown.includes(value) ? value : null));
  const names = by === 'key' ? await keyNames(store, scope, shown) : null;
  const rest = byValue.get(null) ?? [];
  return [
    ...shown.map((value) => groupOf(value, names?.get(value) ?? null, byValue.get(value) ?? [], length)),
    ...(rest.length > 0 ? [groupOf(null, null, rest, length)] : []),
  ];
}

function groupOf(
  value: string | null,
  name: string | null,
  parts: readonly SplitSums[],
  length: number,
): z.output<typeof group> {
  const total = figuresOf(totalOf(parts));
  const points: Sums[] = [];
  for (const { bucket, sums } of parts) {
    const at = points[bucket];
    // The parts are used up by this: whatever else is made of them comes before.
    if (at) addSums(at, sums);
    else points[bucket] = sums;
  }
  return { value, name, total, points: Array.from({ length }, (_, at) => pointOf(points[at] ?? none)) };
}

const none = noSums();

function pointOf(sums: Sums): z.output<typeof point> {
  const { calls, used, latency, firstByte, costNano } = sums;
  return {
    calls,
    errors: errorsOf(sums),
    inputTokens: used.input,
    cachedTokens: used.cachedInput,
    outputTokens: used.output,
    latencyMs: quantilesOf(latency),
    firstByteMs: quantilesOf(firstByte),
    cost: formatUsd(costNano),
  };
}

function iso({ fromMs, toMs }: Range): { from: string; to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
