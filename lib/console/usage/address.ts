import { createLoader, type inferParserType, parseAsStringLiteral } from 'nuqs/server';
import { splitOf } from '#lib/console/usage/groups';
import { metrics } from '#lib/console/usage/metrics';
import { fits, type Grouping, overviewRanges, usageParameters } from '#lib/console/usage/parameters';
import type { Step } from '#lib/core/charts/buckets';
import { type RangeName, rangeNamed, stepsFor, usualStep } from '#lib/core/charts/ranges';
import { atWallTime } from '#lib/core/charts/wall-time';
import { knownZone } from '#lib/core/charts/zone';

export type RangeChoice = RangeName | 'custom';
export type UsageAddress = inferParserType<typeof usageParameters>;
export const loadUsageAddress = createLoader(usageParameters);
export const loadOverviewRange = createLoader({
  range: parseAsStringLiteral(overviewRanges).withDefault('7d'),
});

/** The usage that a URL asks for. */
export interface UsageQuestion {
  readonly range: RangeChoice;
  readonly fromMs: number;
  readonly toMs: number;
  readonly step: Step;
  /** The steps that can be chosen for the range. */
  readonly steps: readonly Step[];
  readonly by: Grouping;
  /** For the operations `usage.series`, `usage.rows` and `usage.ledger`. */
  readonly span: { readonly from: string; readonly to: string };
  readonly timed: Readonly<Record<string, string | undefined>>;
  readonly compared: Readonly<Record<string, string | boolean | undefined>>;
  /** What is invalid in the URL, in words; null: nothing. */
  readonly fault: string | null;
}

const dayMs = 86_400_000;

/** @param nowMs ms since the epoch. */
export function questionOf(address: UsageAddress, nowMs: number, timeZone: string): UsageQuestion {
  const zone = knownZone(timeZone);
  const own = address.from !== null || address.to !== null ? ownRange(address, nowMs, zone) : null;
  const named = own?.fault === null ? null : rangeNamed(address.range, nowMs, zone);
  const { fromMs, toMs } = own?.fault === null ? own : rangeNamed(address.range, nowMs, zone);
  const allowed = stepsFor(toMs - fromMs);
  const step = address.step && allowed.includes(address.step) ? address.step : usualStep(toMs - fromMs);
  const by = fits(address.metric, address.by) ? address.by : 'model';
  const { model, provider, key } = address;
  const span = { from: iso(fromMs), to: iso(toMs) };
  return {
    range: named ? address.range : 'custom',
    fromMs,
    toMs,
    step,
    steps: allowed,
    by,
    span,
    timed: {
      ...span,
      step,
      by: splitOf(address.metric, by) ?? undefined,
      model: model ?? undefined,
      provider: provider ?? undefined,
      key: key ?? undefined,
    },
    compared: {
      rank: metrics[address.metric].rank,
      durations: metrics[address.metric].kind === 'span',
      ...(named ? { beforeFrom: iso(named.before.fromMs), beforeTo: iso(named.before.toMs) } : {}),
    },
    fault: own?.fault ?? null,
  };
}

/** The input of `usage.series` for a range that moves with the clock. */
export function namedQuestion(name: RangeName, nowMs: number, timeZone: string) {
  const { fromMs, toMs, before } = rangeNamed(name, nowMs, knownZone(timeZone));
  return {
    from: iso(fromMs),
    to: iso(toMs),
    step: usualStep(toMs - fromMs),
    beforeFrom: iso(before.fromMs),
    beforeTo: iso(before.toMs),
    durations: false,
  };
}

/** A custom range, whose start or end may be left out. */
function ownRange(
  { from, to }: UsageAddress,
  nowMs: number,
  zone: string,
): { readonly fault: string } | { readonly fault: null; readonly fromMs: number; readonly toMs: number } {
  const [fromMs, toMs] = [momentOf(from, zone), momentOf(to, zone)];
  if (Number.isNaN(fromMs ?? 0)) return { fault: 'The start of the range is invalid; choose a day.' };
  if (Number.isNaN(toMs ?? 0)) return { fault: 'The end of the range is invalid; choose a day.' };
  const endMs = toMs ?? nowMs;
  const startMs = fromMs ?? endMs - 30 * dayMs;
  if (endMs <= startMs) return { fault: 'The range ends before it starts; choose a later end.' };
  return { fault: null, fromMs: startMs, toMs: endMs };
}

/** @returns NaN if it is invalid; null if it was not given. */
function momentOf(text: string | null, zone: string): number | null {
  if (text === null) return null;
  const wall = atWallTime(text, zone);
  const ms = wall
    ? wall.getTime()
    : /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)
      ? Date.parse(text)
      : Number.NaN;
  return ms >= Date.UTC(2000, 0, 1) && ms < Date.UTC(2200, 0, 1) ? ms : Number.NaN;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
