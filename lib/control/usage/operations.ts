import { read } from '#lib/control/declare';
import { optional } from '#lib/control/field/field';
import { choice, time } from '#lib/control/field/kinds';
import { badInput } from '#lib/control/refusal';
import { groupings, reportUsage, usageReport, widened } from '#lib/control/usage/report';

const defaultDays = 30;
const dayMs = 86_400_000;

export const showUsage = read({
  name: 'usage.show',
  summary: 'What a workspace used in a range of time, grouped; calls count at their admission.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    from: optional(
      time({
        label: 'From',
        help: `${defaultDays} days before the end without it; widened to a whole hour.`,
        example: '2026-11-01T00:00:00Z',
      }),
    ),
    to: optional(
      time({
        label: 'To',
        help: 'Not counted any more; now without it; widened to a whole hour.',
        example: '2026-12-01T00:00:00Z',
      }),
    ),
    by: optional(
      choice({ label: 'Group by', help: 'Models when it is not given.', example: 'day' }, groupings),
    ),
  },
  output: usageReport,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/usage' }],
  line: { command: 'usage' },
  run: ({ store, scope, nowMs }, { from, to, by = 'model' }) => {
    const toMs = to?.getTime() ?? nowMs;
    const fromMs = from?.getTime() ?? toMs - defaultDays * dayMs;
    if (toMs <= fromMs) throw badInput('to', 'the end lies after the start; write a later time');
    return reportUsage(store, scope, { ...widened(fromMs, toMs), by });
  },
});

export const usageOperations = [showUsage];
