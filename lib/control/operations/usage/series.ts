import { z } from 'zod';
import { badInput } from '#lib/control/operations/refusal';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { ReadStore, Store } from '#lib/control/operations/store';
import { dollars, figuresOf, usageFigures } from '#lib/control/operations/usage/figures';
import { type CallSplit, callSplits, readCallUsage } from '#lib/control/operations/usage/from-calls';
import { type Range, rangeBefore, wholeDays, widened } from '#lib/control/operations/usage/range';
import { type Rank, rankColumns, ranked } from '#lib/control/operations/usage/rank';
import { merged, namesOf } from '#lib/control/operations/usage/report';
import {
  addSums,
  noSums,
  readUsage,
  removeSums,
  type SplitSums,
  type Sums,
  splits,
  totalOf,
  type UsageFilters,
  type UsageQuery,
} from '#lib/control/operations/usage/sums';
import { bucketStarts, type Step, steps } from '#lib/core/charts/buckets';
import { knownZone } from '#lib/core/charts/zone';

/** A little more than 31 days of quarters. */
const mostBuckets = 3_000;
const dayMs = 86_400_000;
const lengthsMs: Readonly<Record<Step, number>> = {
  quarter: 900_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
  month: 28 * dayMs,
};
/** Maximum of groups shown one by one; the others are one group. */
const mostGroups = 10;

/** How a series can be stacked. */
export const seriesSplits = [...splits, 'member', ...callSplits] as const;
export type SeriesSplit = (typeof seriesSplits)[number];

const point = usageFigures.pick({
  calls: true,
  errors: true,
  errorsBy: true,
  inputTokens: true,
  cachedTokens: true,
  cacheWrite5mTokens: true,
  cacheWrite1hTokens: true,
  outputTokens: true,
  latencyMs: true,
  firstByteMs: true,
  cost: true,
});

const group = z.object({
  value: z
    .string()
    .nullable()
    .describe(
      'The model, provider, key id, id of the member who made the key, outcome or family; empty: calls without one; null: all others, or no split.',
    ),
  name: z.string().nullable().describe('Name of a key or member.'),
  total: usageFigures,
  points: z.array(point).describe('One for each of `starts`, including empty ones.'),
});

/** A chart of usage over time. */
export const usageSeries = z.object({
  workspace: z.string(),
  timeZone: z.string(),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  step: z.enum(steps),
  by: z.enum(seriesSplits).nullable(),
  cost: dollars,
  total: usageFigures,
  starts: z.array(z.iso.datetime()).describe('Start of each point; the last one ends with the range.'),
  groups: z.array(group).describe(`Largest first, at most ${mostGroups}; then all others as one.`),
  before: z
    .object({
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      total: usageFigures,
      points: z.array(point).describe('Everything together, in its own steps.'),
    })
    .describe('The preceding period of the same length, or the requested one.'),
});
export type UsageSeries = z.output<typeof usageSeries>;

/** Range, filters and split of usage over time. */
export interface TimedQuery {
  /** Already extended. */
  readonly range: Range;
  readonly step: Step;
  readonly by: SeriesSplit | null;
  readonly filters: UsageFilters;
  /** Whether the parts have latency and time to first byte. */
  readonly durations?: boolean;
}

export interface SeriesQuery extends TimedQuery {
  /** Chooses the groups that are shown one by one: those with the most of it. */
  readonly rank: Rank;
  /** The period to compare with; null: the preceding period of the same length. */
  readonly before: Range | null;
  readonly nowMs: number;
}

/** Parts by bucket and group, with the starts of the buckets. */
export interface TimedParts {
  readonly range: Range;
  readonly zone: string;
  readonly startsMs: readonly number[];
  readonly parts: readonly SplitSums[];
}

interface PartsWithTotal extends TimedParts {
  readonly sums: Sums;
  /** The groups that are shown, where the parts have all others together; absent: they are to be chosen. */
  readonly shown?: readonly string[];
}

/** @throws ControlRefused if there would be too many points, or too many calls to read for the split. */
export async function readTimed(
  store: ReadStore,
  scope: WorkspaceScope,
  asked: TimedQuery,
): Promise<TimedParts> {
  const points = await pointsIn(store, scope, asked);
  const { range, startsMs } = points;
  const { by, filters, durations } = asked;
  const parts = isCallSplit(by)
    ? await readCallUsage(store, scope, { range, split: by, startsMs, filters, durations })
    : await readUsage(store, scope, {
        range,
        split: by ?? undefined,
        startsMs,
        filters,
        durations,
        feedback: true,
      });
  return { ...points, parts };
}

/** The starts of the points of a series. @throws ControlRefused if there would be too many. */
async function pointsIn(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  { range: asked, step }: Pick<TimedQuery, 'range' | 'step'>,
): Promise<Omit<TimedParts, 'parts'>> {
  const zone = knownZone(scope.timeZone);
  const range = await wholeDays(store, scope, asked);
  if ((range.toMs - range.fromMs) / lengthsMs[step] > mostBuckets) {
    throw badInput(
      'step',
      `a series may have at most ${mostBuckets} points; choose a longer step or a shorter range`,
    );
  }
  return { range, zone, startsMs: bucketStarts(range.fromMs, range.toMs, step, zone) };
}

function isCallSplit(by: SeriesSplit | null): by is CallSplit {
  return callSplits.some((one) => one === by);
}

/**
 * Usage over time, stacked by a split, with an earlier period to compare.
 * @throws ControlRefused as `readTimed`.
 */
export async function readSeries(
  store: ReadStore,
  scope: WorkspaceScope,
  { before, rank, nowMs, ...asked }: SeriesQuery,
): Promise<UsageSeries> {
  const { step, by } = asked;
  const period = widened(before ?? rangeBefore(asked.range, scope.timeZone), scope.timeZone, nowMs);
  const [{ range, zone, startsMs, parts, sums, shown }, earlier] = await Promise.all([
    by === 'key' || by === 'member'
      ? readLargest(store, scope, { ...asked, by, rank })
      : readWithTotal(store, scope, asked),
    readWithTotal(store, scope, { ...asked, range: period, by: null }),
  ]);
  const total = figuresOf(sums);
  return {
    workspace: scope.slug,
    timeZone: zone,
    ...iso(range),
    step,
    by,
    cost: total.cost,
    total,
    starts: startsMs.map((at) => new Date(at).toISOString()),
    groups: await groupsOf(store, scope, { by, rank, parts, shown, length: startsMs.length }),
    before: {
      ...iso(earlier.range),
      total: figuresOf(earlier.sums),
      points: pointsOf(earlier.parts, earlier.startsMs.length),
    },
  };
}

/** With the sums of all parts. If the parts have no durations, those of the whole range are read, which is fast. */
async function readWithTotal(
  store: ReadStore,
  scope: WorkspaceScope,
  asked: TimedQuery,
): Promise<PartsWithTotal> {
  const timed = await readTimed(store, scope, asked);
  return { ...timed, sums: await withDurations(store, scope, asked, timed) };
}

async function withDurations(
  store: Pick<Store, 'query'>,
  scope: WorkspaceScope,
  { filters, durations }: Pick<TimedQuery, 'filters' | 'durations'>,
  { range, parts }: Pick<TimedParts, 'range' | 'parts'>,
): Promise<Sums> {
  const sums = totalOf(parts);
  if (durations !== false) return sums;
  const { latency, firstByte } = totalOf(await readUsage(store, scope, { range, filters }));
  return { ...sums, latency, firstByte };
}

/** All others together, where groups are ids, or empty for keys without a maker. */
const notShown = 'others';

/**
 * The same by key or member, of which there may be thousands: every point of those that are shown one by one, and what all
 * others have together, as the difference between everything and these. All of one state of the database, or the
 * difference would also contain what was settled in between.
 */
function readLargest(
  store: ReadStore,
  scope: WorkspaceScope,
  { rank, by, ...asked }: TimedQuery & Pick<SeriesQuery, 'rank'> & { readonly by: 'key' | 'member' },
): Promise<PartsWithTotal> {
  return store.snapshot(async (query) => {
    const points = await pointsIn({ query }, scope, asked);
    const { range, startsMs } = points;
    const { filters, durations } = asked;
    const read = (more: Partial<UsageQuery>) => readUsage({ query }, scope, { range, filters, ...more });
    const shown = largest(rank, await read({ split: by, columns: rankColumns[rank] }));
    const ofPoints = { startsMs, durations, feedback: true };
    const all = await read(ofPoints);
    const sums = await withDurations({ query }, scope, asked, { range, parts: all });
    const parts = shown.length > 0 ? await read({ ...ofPoints, split: by, values: shown }) : [];
    const others = pointSums(all, startsMs.length);
    for (const { bucket, sums } of parts) {
      const rest = others[bucket];
      if (rest) removeSums(rest, sums);
    }
    const rest = others.map((sums, bucket) => ({ bucket, value: notShown, sums }));
    return {
      ...points,
      parts: [...parts, ...rest.filter(({ sums }) => sums.calls !== 0 || sums.costNano !== 0n)],
      sums,
      shown,
    };
  });
}

async function groupsOf(
  store: Store,
  scope: WorkspaceScope,
  {
    by,
    rank,
    parts,
    shown = largest(rank, parts),
    length,
  }: Pick<SeriesQuery, 'by' | 'rank'> & {
    readonly parts: readonly SplitSums[];
    readonly shown?: readonly string[] | undefined;
    readonly length: number;
  },
): Promise<z.output<typeof group>[]> {
  if (by === null) return [groupOf(null, null, parts, length)];
  const byValue = Map.groupBy(parts, ({ value }) => (shown.includes(value) ? value : null));
  const names = await namesOf(store, scope, by, shown);
  const rest = byValue.get(null) ?? [];
  return [
    ...shown.map((value) => groupOf(value, names?.get(value) ?? null, byValue.get(value) ?? [], length)),
    ...(rest.length > 0 ? [groupOf(null, null, rest, length)] : []),
  ];
}

/** The groups that are shown one by one, largest first. */
function largest(rank: Rank, parts: readonly SplitSums[]): string[] {
  const groups = ranked(
    rank,
    merged(parts, ({ value }) => value),
  );
  return groups.slice(0, mostGroups).map(({ value }) => value);
}

function groupOf(
  value: string | null,
  name: string | null,
  parts: readonly SplitSums[],
  length: number,
): z.output<typeof group> {
  const total = figuresOf(totalOf(parts));
  return { value, name, total, points: pointsOf(parts, length) };
}

/** @param parts are modified by this, so use them for anything else first. */
function pointsOf(parts: readonly SplitSums[], length: number): z.output<typeof point>[] {
  return pointSums(parts, length).map(pointOf);
}

/** @param parts are modified by this. */
function pointSums(parts: readonly SplitSums[], length: number): Sums[] {
  const points: Sums[] = [];
  for (const { bucket, sums } of parts) {
    const at = points[bucket];
    if (at) addSums(at, sums);
    else points[bucket] = sums;
  }
  return Array.from({ length }, (_, at) => points[at] ?? noSums());
}

function pointOf(sums: Sums): z.output<typeof point> {
  const figures = figuresOf(sums);
  return {
    calls: figures.calls,
    errors: figures.errors,
    errorsBy: figures.errorsBy,
    inputTokens: figures.inputTokens,
    cachedTokens: figures.cachedTokens,
    cacheWrite5mTokens: figures.cacheWrite5mTokens,
    cacheWrite1hTokens: figures.cacheWrite1hTokens,
    outputTokens: figures.outputTokens,
    latencyMs: figures.latencyMs,
    firstByteMs: figures.firstByteMs,
    cost: figures.cost,
  };
}

export function iso({ fromMs, toMs }: Range): { from: string; to: string } {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
