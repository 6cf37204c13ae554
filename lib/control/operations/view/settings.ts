import { z } from 'zod';
import { listCalls } from '#lib/control/operations/call/operations';
import { optional } from '#lib/control/operations/field/field';
import { choice, count, line, name, toggle } from '#lib/control/operations/field/kinds';
import { badInput, quoted } from '#lib/control/operations/refusal';

/** The pages of the console whose filters can be saved. */
export const viewPages = ['logs', 'usage'] as const;
export type ViewPage = (typeof viewPages)[number];

/** In which stretch of time, up to now, the calls of a view are counted for its alert. */
export const viewWindows = ['hour', 'day'] as const;
export type ViewWindow = (typeof viewWindows)[number];
export const windowMs: Readonly<Record<ViewWindow, number>> = { hour: 3_600_000, day: 86_400_000 };

/** Of a workspace, views with an alert. */
export const mostViewAlerts = 20;

/** Of a workspace, its members' own and shared views together. */
export const mostViews = 100;

const { limit: _, count: __, settledAfter: ___, after: ____, ...logFilters } = listCalls.fields;

/** What the URL of each page may contain, without its place in the list: the same view can be opened any day. */
export const viewParameters: Readonly<Record<ViewPage, readonly string[]>> = {
  logs: [...Object.keys(logFilters), 'columns'],
  usage: [
    ...['metric', 'by', 'range', 'from', 'to', 'step', 'model', 'provider', 'key'],
    ...['only', 'table', 'compare', 'sort', 'columns'],
  ],
};

export const viewFields = {
  page: choice({ label: 'Page', help: 'The page that it opens.', example: 'logs' }, viewPages),
  name: name({ label: 'Name', help: 'Unique among your views.', example: 'Failed calls today' }),
  query: optional(
    line(
      {
        label: 'Query',
        help: 'Filters, sort and columns, as in the URL of the page. Default: none.',
        placeholder: 'QUERY',
        example: 'status=5xx&sort=-cost',
      },
      1000,
    ),
  ),
  shared: optional(
    toggle({
      label: 'Share with the workspace',
      help: 'Every member can open it; you and admins can change it. Default: off; on if no user saves it.',
      example: true,
    }),
  ),
};

/** When a view raises an alert (contract: control-plane/view-alerts). */
export const viewAlertFields = {
  over: count(
    {
      label: 'More calls than',
      help: 'An alert starts when the view has more calls than this.',
      unit: 'calls',
      example: 100,
    },
    { min: 0, max: 100_000 },
  ),
  window: optional(
    choice(
      {
        label: 'Within',
        help: 'The last hour or the last 24 hours, whatever range the view has. Default: hour.',
        example: 'hour',
        choiceNames: { hour: 'The last hour', day: 'The last 24 hours' },
      },
      viewWindows,
    ),
  ),
};

export const shownView = z.object({
  id: z.uuid(),
  page: z.enum(viewPages),
  name: z.string(),
  query: z.string().describe('Filters, sort and columns, as in the URL of the page; empty: none.'),
  shared: z.boolean().describe('Whether all members see it.'),
  author: z
    .object({ id: z.uuid(), name: z.string() })
    .nullable()
    .describe('The user who saved it; null: an operator on the command line, or a former user.'),
  own: z.boolean().describe('Whether it is yours.'),
  editable: z.boolean().describe('Whether you may rename and delete it.'),
  weekly: z.boolean().describe('Whether you get its weekly email.'),
  alert: z
    .object({
      over: z.int().describe('Calls; one more starts the alert.'),
      window: z.enum(viewWindows).describe('In which the calls are counted: the last hour or 24 hours.'),
    })
    .nullable()
    .describe('When it raises an alert; null: never.'),
  createdAt: z.iso.datetime(),
});
export type ShownView = z.output<typeof shownView>;

/**
 * A query without its leading "?", empty values and repetitions. @throws ControlRefused (invalid_body) for a parameter
 * that the page does not have.
 */
export function queryOf(page: ViewPage, text: string | null | undefined): string {
  const kept = new URLSearchParams();
  for (const [name, value] of new URLSearchParams((text ?? '').replace(/^\?/, ''))) {
    if (!viewParameters[page].includes(name))
      throw badInput(
        'query',
        `the page ${page} has no ${quoted(name)}; it has ${viewParameters[page].join(', ')}`,
      );
    if (value !== '') kept.set(name, value);
  }
  return kept.toString();
}
