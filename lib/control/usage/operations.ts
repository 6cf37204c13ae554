import { type Step, steps } from '#lib/charts/buckets';
import { read } from '#lib/control/declare';
import { optional } from '#lib/control/field/field';
import { choice, id, time, words } from '#lib/control/field/kinds';
import { askedRange, reachesDays, widened } from '#lib/control/usage/range';
import { groupings, reportUsage, usageReport } from '#lib/control/usage/report';
import { readSeries, usageSeries } from '#lib/control/usage/series';
import { splits } from '#lib/control/usage/sums';

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

export const seriesOfUsage = read({
  name: 'usage.series',
  summary: 'What a workspace used over time, in steps of its time zone, beside the period before.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
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
      choice({ label: 'Stack by', help: 'Everything together without it.', example: 'model' }, splits),
    ),
    ...filterFields,
  },
  output: usageSeries,
  http: [{ method: 'GET', path: `${workspaceUsage}/series` }],
  line: null,
  run: ({ store, scope, nowMs }, { from, to, step, by, model, key, provider }) => {
    const range = widened(askedRange({ from, to }, nowMs), scope.timeZone, nowMs);
    const folded = reachesDays(range, scope.timeZone, nowMs);
    return readSeries(store, scope, {
      range,
      step: folded ? 'day' : (step ?? stepFor(range.toMs - range.fromMs)),
      by: by ?? null,
      filters: { model, key, provider },
      nowMs,
    });
  },
});

const hourMs = 3_600_000;

/** A step that gives a chart of at most about two hundred points, but for long ranges of days. */
function stepFor(lengthMs: number): Step {
  if (lengthMs <= 48 * hourMs) return 'quarter';
  return lengthMs <= 8 * 24 * hourMs ? 'hour' : 'day';
}

export const usageOperations = [showUsage, seriesOfUsage];
