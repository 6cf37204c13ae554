import { read } from '#lib/control/operations/declare';
import { optional, type ValuesOf } from '#lib/control/operations/field/field';
import { choice, id, time, toggle, words } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import { compareWithLedger, usageLedger } from '#lib/control/operations/usage/ledger';
import { askedRange, type Range, reachesDays, widened } from '#lib/control/operations/usage/range';
import { ranks } from '#lib/control/operations/usage/rank';
import { groupings, reportUsage, usageReport } from '#lib/control/operations/usage/report';
import { readRows, usageRows } from '#lib/control/operations/usage/rows';
import { readSeries, seriesSplits, usageSeries } from '#lib/control/operations/usage/series';
import { type Step, steps } from '#lib/core/charts/buckets';
import { usualStep } from '#lib/core/charts/ranges';

const rangeFields = {
  from: optional(
    time({
      label: 'From',
      help: '30 days before the end without it; widened to a whole quarter of an hour.',
      example: '2026-11-01T00:00:00Z',
    }),
  ),
  to: optional(
    time({
      label: 'To',
      help: 'Not counted any more; now without it; widened to a whole quarter of an hour.',
      example: '2026-12-01T00:00:00Z',
    }),
  ),
};

const filterFields = {
  model: optional(words({ label: 'Model', help: 'This one alone.', example: 'openai/gpt-4.1' })),
  key: optional(id({ label: 'Key', help: 'The id of an API key: this one alone.' })),
  provider: optional(words({ label: 'Provider', help: 'This one alone.', example: 'openai' })),
};

const workspaceUsage = '/workspaces/{workspace}/usage';

export const showUsage = read({
  name: 'usage.show',
  summary: 'What a workspace used in a range of time, grouped; calls count at their admission.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    ...rangeFields,
    by: optional(
      choice({ label: 'Group by', help: 'Models when it is not given.', example: 'day' }, groupings),
    ),
    ...filterFields,
  },
  output: usageReport,
  http: [{ method: 'GET', path: workspaceUsage }],
  line: {
    command: 'usage',
    columns: [
      ...[
        'model',
        'key',
        'name',
        'provider',
        'day',
        'calls',
        'errors',
        'refused',
        'inputTokens',
        'cachedTokens',
      ],
      ...['outputTokens', 'latencyMs', 'firstByteMs', 'cost'],
    ],
  },
  run: ({ store, scope, nowMs }, { from, to, by = 'model', model, key, provider }) => {
    const range = widened(askedRange({ from, to }, nowMs), scope.timeZone, nowMs);
    return reportUsage(store, scope, { range, by, filters: { model, key, provider } });
  },
});

const seriesFields = {
  ...rangeFields,
  step: optional(
    choice(
      {
        label: 'Step',
        help: 'Fits the range when it is not given; usage of more than 13 months ago is kept by days.',
        example: 'hour',
      },
      steps,
    ),
  ),
  by: optional(
    choice(
      {
        label: 'Stack by',
        help: 'Everything together without it; outcome and family are read from the calls, at most 25,000 of them.',
        example: 'model',
      },
      seriesSplits,
    ),
  ),
  ...filterFields,
};

export const seriesOfUsage = read({
  name: 'usage.series',
  summary: 'What a workspace used over time, in steps of its time zone, beside the period before.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    ...seriesFields,
    rank: optional(
      choice(
        { label: 'Rank by', help: 'Which groups stand alone; cost when it is not given.', example: 'calls' },
        ranks,
      ),
    ),
    durations: optional(
      toggle({
        label: 'Durations',
        help: 'Off: groups and points without latency and time to first byte, which take most of the time to read.',
        example: false,
      }),
    ),
    beforeFrom: optional(
      time({
        label: 'Compare from',
        help: 'Where the period begins that it is compared with; the one of the same length before without it.',
        example: '2026-10-01T00:00:00Z',
      }),
    ),
    beforeTo: optional(
      time({ label: 'Compare to', help: 'Its end, not counted any more.', example: '2026-11-01T00:00:00Z' }),
    ),
  },
  output: usageSeries,
  http: [{ method: 'GET', path: `${workspaceUsage}/series` }],
  line: null,
  run: ({ store, scope, nowMs }, { rank = 'cost', durations = true, beforeFrom, beforeTo, ...asked }) =>
    readSeries(store, scope, {
      ...timed(asked, scope.timeZone, nowMs),
      rank,
      durations,
      before: comparedWith(beforeFrom, beforeTo),
      nowMs,
    }),
});

export const rowsOfUsage = read({
  name: 'usage.rows',
  summary: 'The same over time as rows, one for each step and group that has any: what a spreadsheet takes.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: seriesFields,
  output: usageRows,
  http: [{ method: 'GET', path: `${workspaceUsage}/rows` }],
  line: null,
  run: ({ store, scope, nowMs }, asked) => readRows(store, scope, timed(asked, scope.timeZone, nowMs)),
});

export const ledgerOfUsage = read({
  name: 'usage.ledger',
  summary:
    'Usage of a range beside what the ledger posted in it, and what calls across the edges make different.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: rangeFields,
  output: usageLedger,
  http: [{ method: 'GET', path: `${workspaceUsage}/ledger` }],
  line: null,
  run: ({ store, scope, nowMs }, asked) =>
    compareWithLedger(store, scope, widened(askedRange(asked, nowMs), scope.timeZone, nowMs)),
});

type Timed = ValuesOf<typeof seriesFields>;

/** What is asked of usage over time, widened to what is kept. */
function timed({ from, to, step, by, ...filters }: Timed, timeZone: string, nowMs: number) {
  const range = widened(askedRange({ from, to }, nowMs), timeZone, nowMs);
  const fits = step ?? usualStep(range.toMs - range.fromMs);
  const fine = fits === 'quarter' || fits === 'hour';
  const kept: Step = fine && reachesDays(range, timeZone, nowMs) ? 'day' : fits;
  return { range, step: kept, by: by ?? null, filters };
}

/** @throws ControlRefused for half a period, or one that ends before it begins. */
function comparedWith(from: Date | undefined, to: Date | undefined): Range | null {
  if (from === undefined && to === undefined) return null;
  if (from === undefined) throw badInput('beforeFrom', 'a period has a beginning; give it with its end');
  if (to === undefined) throw badInput('beforeTo', 'a period has an end; give it with its beginning');
  if (to <= from) throw badInput('beforeTo', 'the end lies after the start; write a later time');
  return { fromMs: from.getTime(), toMs: to.getTime() };
}

export const usageOperations = [showUsage, seriesOfUsage, rowsOfUsage, ledgerOfUsage];
