import { z } from 'zod';
import type { AlertKind } from '#lib/control/alerts/events';
import { alertKinds } from '#lib/control/alerts/kinds';
import { alertWords } from '#lib/control/alerts/words';
import { change, read } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { count, toggle } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging, placeOf, placeText } from '#lib/control/operations/field/paging';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';

const path = '/workspaces/{workspace}/alerts';

const switches = {
  limit: toggle({ label: 'Limits and caps', help: 'At 80% and 100%.', example: false }),
  key_expiring: toggle({
    label: 'Expiring keys',
    help: '7 days and 1 day before the key expires.',
    example: false,
  }),
  offer_trouble: toggle({
    label: 'Failing offers',
    help: 'When a fifth of at least 20 calls in an hour fails at an offer.',
    example: false,
  }),
  model_retiring: toggle({
    label: 'Retiring models',
    help: '30 days before a model that you use retires.',
    example: false,
  }),
  budget: toggle({
    label: 'Monthly budget',
    help: 'At 80% and 100%. Members who manage billing get the email too.',
    example: false,
  }),
  low_balance: toggle({
    label: 'Low balance, to webhooks',
    help: 'For the email, set a threshold on the billing page.',
    example: false,
  }),
  auto_top_up_paused: toggle({
    label: 'Paused top-ups, to webhooks',
    help: 'When automatic top-ups are paused. Members who can pay always get an email.',
    example: false,
  }),
  view: toggle({
    label: 'Saved views',
    help: 'When a view has more calls than the number set for it.',
    example: false,
  }),
  bad_answers: toggle({
    label: 'Bad answers',
    help: 'When too many of the answers of 24 hours that were rated are bad.',
    example: false,
  }),
} satisfies Record<AlertKind, unknown>;

/** From when answers count as too bad. */
const badAnswers = {
  badPercent: count(
    {
      label: 'Bad answers above, percent',
      help: 'The share of bad answers above which the alert on bad answers starts.',
      unit: 'percent',
      example: 25,
    },
    { min: 0, max: 99 },
  ),
  badRated: count(
    {
      label: 'Of rated answers at least',
      help: 'Fewer answers of 24 hours with a score start no alert on bad answers.',
      unit: 'answers',
      example: 50,
    },
    { min: 1, max: 1_000_000 },
  ),
};

const shownSwitches = z.object({
  limit: z.boolean(),
  key_expiring: z.boolean(),
  offer_trouble: z.boolean(),
  model_retiring: z.boolean(),
  budget: z.boolean(),
  low_balance: z.boolean(),
  auto_top_up_paused: z.boolean(),
  view: z.boolean(),
  bad_answers: z.boolean(),
} satisfies Record<AlertKind, z.ZodType>);
const shownSettings = shownSwitches.extend({
  badPercent: z.int().describe('The share of bad answers above which bad_answers starts, percent.'),
  badRated: z.int().describe('Rated answers of 24 hours below which bad_answers does not start.'),
});

export const showAlertSettings = read({
  name: 'alert.settings',
  summary: 'Shows which kinds of alerts a workspace gets, and from which share of bad answers.',
  reach: 'workspace',
  permission: 'workspace:read',
  output: shownSettings,
  state: (shown) => shown,
  http: [{ method: 'GET', path: `${path}/settings` }],
  line: { arguments: ['workspace'] },
  run: ({ store, scope }) => readSwitches(store, scope),
});

export const setAlerts = change({
  name: 'alert.set',
  summary:
    'Switches kinds of alerts on or off, and sets from which share of bad answers one starts; the others are unchanged.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: allOptional({ ...switches, ...badAnswers }),
  output: shownSettings,
  http: [{ method: 'PATCH', path: `${path}/settings` }],
  line: { arguments: ['workspace'] },
  run: async ({ store, scope, expect }, input) => {
    const { workspaceId } = scope;
    await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [workspaceId]);
    const before = await readSwitches(store, scope);
    expect(before);
    const after = {
      ...before,
      ...Object.fromEntries(Object.entries(input).filter(([, on]) => on !== undefined)),
    };
    const mutedAlerts = alertKinds.filter((kind) => !after[kind]);
    const { badPercent, badRated } = after;
    await store.prisma.workspace.update({
      where: { id: workspaceId },
      data: { mutedAlerts, badPercent, badRated },
    });
    return { result: after, subject: workspaceId, before, after };
  },
});

export const listAlerts = read({
  name: 'alert.list',
  summary: 'Lists the alerts of a workspace, newest first.',
  reach: 'workspace',
  permission: 'workspace:read',
  fields: paging,
  output: pageOf(
    z.object({
      id: z.uuid(),
      kind: z.enum(alertKinds),
      title: z.string(),
      text: z.string(),
      page: z.string().describe('Path of the page in the workspace to handle it on.'),
      raisedAt: z.iso.datetime(),
      endedAt: z.iso.datetime().nullable().describe('null: still active.'),
    }),
  ),
  http: [{ method: 'GET', path }],
  line: { columns: ['raisedAt', 'kind', 'title', 'endedAt'] },
  run: async ({ store, scope }, input) => {
    const limit = limitOf(input);
    const place = input.after === undefined ? null : placeOf(input.after, 'a page of alerts');
    const rows = await store.query<{
      id: string;
      kind: string;
      facts: Record<string, unknown>;
      at: Date;
      ended_at: Date | null;
    }>(
      `SELECT id::text AS id, kind, facts, raised_at AS at, ended_at FROM alert WHERE workspace_id = $1::uuid
         AND ($2::timestamptz IS NULL OR (raised_at, id) < ($2::timestamptz, $3::uuid))
       ORDER BY raised_at DESC, id DESC LIMIT $4::int`,
      [scope.workspaceId, place?.at ?? null, place?.id ?? null, limit + 1],
    );
    const page = rows.slice(0, limit);
    const data = page.flatMap(({ id, kind: stored, facts, at, ended_at: ended }) => {
      const kind = alertKinds.find((one) => one === stored);
      if (kind === undefined) return [];
      const said = { ...alertWords(kind, facts), raisedAt: at.toISOString() };
      return [{ id, kind, ...said, endedAt: ended?.toISOString() ?? null }];
    });
    const last = rows.length > limit ? page.at(-1) : undefined;
    return { data, next: last ? placeText(last) : null };
  },
});

export const alertOperations = [showAlertSettings, setAlerts, listAlerts];

async function readSwitches({ prisma }: Store, { workspaceId: id }: WorkspaceScope) {
  const { mutedAlerts, ...bad } = await prisma.workspace.findUniqueOrThrow({
    where: { id },
    select: { mutedAlerts: true, badPercent: true, badRated: true },
  });
  const on = (kind: string) => !mutedAlerts.includes(kind);
  return {
    limit: on('limit'),
    key_expiring: on('key_expiring'),
    offer_trouble: on('offer_trouble'),
    model_retiring: on('model_retiring'),
    low_balance: on('low_balance'),
    auto_top_up_paused: on('auto_top_up_paused'),
    budget: on('budget'),
    view: on('view'),
    bad_answers: on('bad_answers'),
    ...bad,
  };
}
