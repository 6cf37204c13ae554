import { read } from '#lib/control/operations/declare';
import { allOptional, type ValuesOf } from '#lib/control/operations/field/field';
import { choice, id, time, toggle, words } from '#lib/control/operations/field/kinds';
import { badInput } from '#lib/control/operations/refusal';
import { compareWithLedger, usageLedger } from '#lib/control/operations/usage/ledger';
import { askedRange, type Range, reachesDays, widened } from '#lib/control/operations/usage/range';
import { ranks } from '#lib/control/operations/usage/rank';
import { groupings, reportUsage, usageReport } from '#lib/control/operations/usage/report';
import { readRows, usageRows } from '#lib/control/operations/usage/rows';
import { readSeries, seriesSplits, usageSeries } from '#lib/control/operations/usage/series';
import { usageByTag } from '#lib/control/operations/usage/tags';
import { type Step, steps } from '#lib/core/charts/buckets';
import { usualStep } from '#lib/core/charts/ranges';

const rangeFields = allOptional({
  from: time({
    label: 'From',
    help: 'Start of the range, extended to a whole quarter of an hour. Default: 30 days before the end.',
    example: '2026-11-01T00:00:00Z',
  }),
  to: time({
    label: 'To',
    help: 'End of the range, exclusive, extended to a whole quarter of an hour. Default: now.',
    example: '2026-12-01T00:00:00Z',
  }),
});

const durationsField = (what: string) =>
  toggle({
    label: 'Durations',
    help: `If off, ${what} no latency and time to first byte, which makes the answer much faster.`,
    example: false,
  });

const filterFields = allOptional({
  model: words({ label: 'Model', help: 'Only this model.', example: 'openai/gpt-4.1' }),
  key: id({ label: 'Key', help: 'Only the API key with this id.' }),
  provider: words({ label: 'Provider', help: 'Only this provider.', example: 'openai' }),
  member: id({ label: 'Member', help: 'Only keys that the user with this id made.' }),
});

const workspaceUsage = '/workspaces/{workspace}/usage';

export const showUsage = read({
  name: 'usage.show',
  summary: 'Shows the usage of a workspace in a range of time, grouped; calls count at their admission.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: allOptional({
    ...rangeFields,
    by: choice({ label: 'Group by', help: 'Default: model.', example: 'day' }, groupings),
    ...filterFields,
    durations: durationsField('the answer has'),
  }),
  output: usageReport,
  http: [{ method: 'GET', path: workspaceUsage }],
  line: {
    command: 'usage',
    columns: [
      'model',
      'key',
      'name',
      'provider',
      'member',
      'day',
      'calls',
      'errors',
      'refused',
      'inputTokens',
      'cachedTokens',
      'outputTokens',
      'latencyMs',
      'firstByteMs',
      'cost',
      'rated',
      'good',
      'repeated',
      'cacheHits',
      'saved',
    ],
  },
  run: (
    { store, scope, nowMs },
    { from, to, by = 'model', model, key, provider, member, durations = true },
  ) => {
    const range = widened(askedRange({ from, to }, nowMs), scope.timeZone, nowMs);
    return reportUsage(store, scope, { range, by, filters: { model, key, provider, member }, durations });
  },
});

const seriesFields = allOptional({
  ...rangeFields,
  step: choice(
    {
      label: 'Step',
      help: 'Default: fits the range. Usage older than 13 months is kept by days.',
      example: 'hour',
    },
    steps,
  ),
  by: choice(
    {
      label: 'Stack by',
      help: 'Default: everything together. By outcome or family, for at most 25,000 calls.',
      example: 'model',
    },
    seriesSplits,
  ),
  ...filterFields,
});

export const seriesOfUsage = read({
  name: 'usage.series',
  summary:
    'Shows the usage of a workspace over time, in steps of its time zone, compared with an earlier period.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: allOptional({
    ...seriesFields,
    rank: choice(
      {
        label: 'Rank by',
        help: 'How to choose the groups that are shown one by one. Default: cost.',
        example: 'calls',
      },
      ranks,
    ),
    durations: durationsField('groups and points have'),
    beforeFrom: time({
      label: 'Compare from',
      help: 'Start of the period to compare with. Default: the preceding period of the same length.',
      example: '2026-10-01T00:00:00Z',
    }),
    beforeTo: time({
      label: 'Compare to',
      help: 'End of that period, exclusive.',
      example: '2026-11-01T00:00:00Z',
    }),
  }),
  output: usageSeries,
  http: [{ method: 'GET', path: `${workspaceUsage}/series` }],
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
  summary: 'Lists usage over time as rows for a spreadsheet, one for each step and group with usage.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: seriesFields,
  output: usageRows,
  http: [{ method: 'GET', path: `${workspaceUsage}/rows` }],
  run: ({ store, scope, nowMs }, asked) => readRows(store, scope, timed(asked, scope.timeZone, nowMs)),
});

export const ledgerOfUsage = read({
  name: 'usage.ledger',
  summary:
    'Compares the usage of a range with what the ledger posted in it; calls across the edges make the difference.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: rangeFields,
  output: usageLedger,
  http: [{ method: 'GET', path: `${workspaceUsage}/ledger` }],
  run: ({ store, scope, nowMs }, asked) =>
    compareWithLedger(store, scope, widened(askedRange(asked, nowMs), scope.timeZone, nowMs)),
});

type Timed = ValuesOf<typeof seriesFields>;

/** A query of usage over time, extended to what is kept. */
function timed({ from, to, step, by, ...filters }: Timed, timeZone: string, nowMs: number) {
  const range = widened(askedRange({ from, to }, nowMs), timeZone, nowMs);
  const fits = step ?? usualStep(range.toMs - range.fromMs);
  const fine = fits === 'quarter' || fits === 'hour';
  const kept: Step = fine && reachesDays(range, timeZone, nowMs) ? 'day' : fits;
  return { range, step: kept, by: by ?? null, filters };
}

/** @throws ControlRefused for an incomplete period, or one that ends before it begins. */
function comparedWith(from: Date | undefined, to: Date | undefined): Range | null {
  if (from === undefined && to === undefined) return null;
  if (from === undefined) throw badInput('beforeFrom', 'give the start of the period together with its end');
  if (to === undefined) throw badInput('beforeTo', 'give the end of the period together with its start');
  if (to <= from) throw badInput('beforeTo', 'the end must be after the start; choose a later time');
  return { fromMs: from.getTime(), toMs: to.getTime() };
}

export const usageOperations = [showUsage, seriesOfUsage, rowsOfUsage, ledgerOfUsage, usageByTag];
