import type { SavedView } from '#generated/client';
import { userOf } from '#lib/control/operations/actor';
import { type Context, change, create, read, type State } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, id as idField, isUuid } from '#lib/control/operations/field/kinds';
import {
  inOrderOf,
  limitOf,
  type Order,
  pageOf,
  pageOfIds,
  paging,
} from '#lib/control/operations/field/paging';
import { badInput, ControlRefused, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { inScope, within } from '#lib/control/operations/scope';
import { searchOfView } from '#lib/control/operations/view/filters';
import {
  mostViewAlerts,
  mostViews,
  queryOf,
  type ShownView,
  shownView,
  type ViewPage,
  viewAlertFields,
  viewFields,
  viewPages,
  viewWindows,
} from '#lib/control/operations/view/settings';
import { reportedMonday } from '#lib/control/operations/view/week';
import { may, rolesThatMay } from '#lib/core/role';
import { newRowId } from '#lib/platform/data/row-id';

const views = '/workspaces/{workspace}/views';
const viewId = idField({ label: 'View', help: 'Its id.' });
/** Who may change the shared views of others. */
const ofOthers = 'workspace:write';

type Caller = Pick<Context<'workspace'>, 'actor' | 'role' | 'scope' | 'store'>;

export const listViews = read({
  name: 'view.list',
  summary: 'Lists your saved views and those that are shared in the workspace, by name.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: {
    page: optional(choice({ label: 'Page', help: 'Views of this page. Default: all.' }, viewPages)),
    ...paging,
  },
  output: pageOf(shownView),
  http: [{ method: 'GET', path: views }],
  line: { columns: ['id', 'page', 'name', 'shared', 'query'] },
  run: async (context, { page, after, ...input }) => {
    const { store, scope, actor } = context;
    const where = (values: unknown[]) => [
      within(scope, 'v.workspace_id', values),
      `(v.shared OR v.owner_id = $${values.push(userOf(actor))}::uuid)`,
      ...(page === undefined ? [] : [`v.page = $${values.push(page)}`]),
    ];
    const list = { from: 'saved_view v', id: 'v.id', orders: byName, where };
    const { ids, next } = await pageOfIds(store, list, { sort: 'name', after, limit: limitOf(input) });
    const rows = await store.prisma.savedView.findMany({
      where: { ...inScope(scope), id: { in: ids } },
      include: alsoRead(actor),
    });
    return { data: inOrderOf(ids, rows).map((row) => shown(context, row)), next };
  },
});

const byName = { name: { sql: 'lower(v.name)', type: 'text' } } as const satisfies Record<string, Order>;
/** Its author, and whether the caller gets it by mail. */
const alsoRead = (actor: Caller['actor']) => ({
  owner: { select: { name: true, email: true } },
  subscriptions: { where: { userId: userOf(actor) ?? noUser }, select: { userId: true } },
});
const noUser = '00000000-0000-0000-0000-000000000000';

export const createView = create({
  name: 'view.create',
  summary: 'Saves filters, order and columns of the log or the usage page under a name.',
  reach: 'workspace',
  permission: 'views:write',
  fields: viewFields,
  output: shownView,
  http: [{ method: 'POST', path: views }],
  line: {},
  text: ({ id, name }) => `view ${name} saved (${id})`,
  run: async (context, { page, name, query, shared }) => {
    const { store, scope, actor } = context;
    const { workspaceId } = scope;
    const ownerId = userOf(actor);
    if (ownerId === null && shared === false)
      throw badInput('shared', 'only users have views of their own; share it');
    const data = { page, name, query: queryOf(page, query), shared: shared ?? ownerId === null };
    await takeTurns(context);
    if ((await store.prisma.savedView.count({ where: inScope(scope) })) >= mostViews)
      throw conflict(`a workspace may have at most ${mostViews} saved views; delete one first`);
    await refuseTaken(context, ownerId, name);
    const row = await store.prisma.savedView.create({
      data: { id: newRowId(), workspaceId, ownerId, ...data },
      include: alsoRead(actor),
    });
    return { result: shown(context, row), subject: row.id, before: null, after: stateOf(row) };
  },
});

export const renameView = change({
  name: 'view.rename',
  summary: 'Renames a saved view: your own, or for admins a shared one.',
  reach: 'workspace',
  permission: 'views:write',
  fields: { id: viewId, name: viewFields.name },
  output: shownView,
  http: [{ method: 'POST', path: `${views}/{id}/rename` }],
  line: { arguments: ['id', 'name'] },
  text: ({ name }) => `the view is now called ${name}`,
  run: async (context, { id, name }) => {
    await takeTurns(context);
    const row = await findView(context, id);
    if (row.name !== name) await refuseTaken(context, row.ownerId, name);
    const renamed = { ...row, name };
    await context.store.prisma.savedView.update({ where: { id }, data: { name } });
    return { result: shown(context, renamed), subject: id, before: stateOf(row), after: stateOf(renamed) };
  },
});

export const deleteView = change({
  name: 'view.delete',
  summary: 'Deletes a saved view: your own, or for admins a shared one.',
  reach: 'workspace',
  permission: 'views:write',
  fields: { id: viewId },
  output: shownView,
  http: [{ method: 'DELETE', path: `${views}/{id}` }],
  line: { arguments: ['id'] },
  text: ({ name }) => `view ${name} deleted`,
  run: async (context, { id }) => {
    await takeTurns(context);
    const row = await findView(context, id);
    await context.store.prisma.savedView.delete({ where: { id } });
    return { result: shown(context, row), subject: id, before: stateOf(row), after: null };
  },
});

export const subscribeView = change({
  name: 'view.subscribe',
  summary:
    'Sends you an email about a saved view every Monday: the figures of the week, compared with the week before.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: { id: viewId },
  output: shownView,
  http: [{ method: 'POST', path: `${views}/{id}/subscribe` }],
  line: { arguments: ['id'] },
  text: ({ name }) => `you get an email about the view ${name} every Monday`,
  run: async (context, { id }) => {
    const { store, scope, actor, nowMs } = context;
    const row = await getView(context, id);
    const { workspaceId } = scope;
    const userId = userOf(actor);
    if (userId === null) throw badInput('id', 'only users can get views by email; sign in to the console');
    readable(row);
    // The week that has ended is not reported any more: the first mail comes on the next Monday.
    await store.execute(
      `INSERT INTO view_subscription (view_id, user_id, week)
       SELECT $1::uuid, $2::uuid, ${reportedMonday('$3')} FROM workspace w WHERE w.id = $4::uuid ON CONFLICT DO NOTHING`,
      [id, userId, new Date(nowMs), workspaceId],
    );
    const result = shown(context, { ...row, subscriptions: [{ userId }] });
    return { result, subject: id, before: mailState(row.subscriptions.length > 0), after: mailState(true) };
  },
});

export const unsubscribeView = change({
  name: 'view.unsubscribe',
  summary: 'Ends your weekly email about a saved view.',
  reach: 'workspace',
  permission: 'logs:read',
  fields: { id: viewId },
  output: shownView,
  http: [{ method: 'POST', path: `${views}/{id}/unsubscribe` }],
  line: { arguments: ['id'] },
  text: ({ name }) => `you get no more emails about the view ${name}`,
  run: async (context, { id }) => {
    const row = await getView(context, id);
    const userId = userOf(context.actor);
    if (userId !== null)
      await context.store.prisma.viewSubscription.deleteMany({ where: { viewId: id, userId } });
    const result = shown(context, { ...row, subscriptions: [] });
    return { result, subject: id, before: mailState(row.subscriptions.length > 0), after: mailState(false) };
  },
});

export const alertOnView = change({
  name: 'view.alert',
  summary: 'Alerts when a shared view has more calls than a number in the last hour or 24 hours.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: { id: viewId, ...viewAlertFields },
  output: shownView,
  http: [{ method: 'POST', path: `${views}/{id}/alert` }],
  line: { arguments: ['id', 'over'] },
  text: ({ name, alert }) =>
    `alerts when the view ${name} has more than ${alert?.over} calls in the last ${alert?.window}`,
  run: async (context, { id, over, window = 'hour' }) => {
    const { store, scope } = context;
    await takeTurns(context);
    const row = await getView(context, id);
    if (!row.shared) throw badInput('id', 'only shared views raise alerts; save it as a shared one');
    readable(row);
    const others = { ...inScope(scope), alertOver: { not: null }, NOT: { id } };
    if ((await store.prisma.savedView.count({ where: others })) >= mostViewAlerts)
      throw conflict(`a workspace may have alerts on at most ${mostViewAlerts} views; end one first`);
    return setAlert(context, row, { over, window });
  },
});

export const endViewAlert = change({
  name: 'view.end-alert',
  summary: 'Ends the alert on a saved view.',
  reach: 'workspace',
  permission: 'workspace:write',
  fields: { id: viewId },
  output: shownView,
  http: [{ method: 'DELETE', path: `${views}/{id}/alert` }],
  line: { arguments: ['id'] },
  text: ({ name }) => `the view ${name} raises no alerts any more`,
  run: async (context, { id }) => {
    await takeTurns(context);
    return setAlert(context, await getView(context, id), null);
  },
});

export const viewOperations = [
  ...[listViews, createView, renameView, deleteView],
  ...[subscribeView, unsubscribeView, alertOnView, endViewAlert],
];

async function setAlert(context: Caller, row: Row, alert: ShownView['alert']) {
  const before = alertOf(row);
  const same = before?.over === alert?.over && before?.window === alert?.window;
  const columns = { alertOver: alert?.over ?? null, alertWindow: alert?.window ?? 'hour' };
  if (!same)
    await context.store.prisma.savedView.update({
      where: { id: row.id },
      data: { ...columns, alertCalls: null, alertNextAt: null },
    });
  const result = shown(context, { ...row, ...columns });
  return { result, subject: row.id, before: alertState(before), after: alertState(alert) };
}

const mailState = (weekly: boolean): State => ({ weekly });
const alertState = (alert: ShownView['alert']): State => ({
  alert: alert && `more than ${alert.over} calls in the last ${alert.window}`,
});

/** @throws ControlRefused (invalid_body) for a view whose filters cannot be read: its calls cannot be counted. */
function readable({ page, query }: Row): void {
  if (searchOfView(pageOfView(page), query) === null)
    throw badInput(
      'id',
      'a filter of this view is invalid; open it, correct the filters and save them again',
    );
}

type Row = SavedView & {
  owner: { name: string | null; email: string } | null;
  subscriptions: { userId: string }[];
};

/**
 * Changes of the views of a workspace wait for each other, so that names stay unique and the maximum is kept
 * (contract: control-plane/saved-views).
 */
async function takeTurns({ store, scope }: Caller): Promise<void> {
  await store.query("SELECT pg_advisory_xact_lock(hashtext('saved_view'), hashtext($1))::text", [
    scope.workspaceId,
  ]);
}

/** @throws ControlRefused (conflict). */
async function refuseTaken({ store, scope }: Caller, ownerId: string | null, name: string): Promise<void> {
  const where = { ...inScope(scope), ownerId, name };
  if ((await store.prisma.savedView.count({ where })) === 0) return;
  throw conflict(`there is already a view ${quoted(name)}; choose another name`, 'name');
}

/** A view that the caller may see. @throws ControlRefused not_found, also for the private views of others. */
async function getView({ store, scope, actor }: Caller, id: string): Promise<Row> {
  const where = { ...inScope(scope), id };
  const row = isUuid(id) ? await store.prisma.savedView.findFirst({ where, include: alsoRead(actor) }) : null;
  if (row !== null && (row.shared || isOwn(row, actor))) return row;
  throw notFound(`there is no saved view ${quoted(id)}; check its id`, 'id');
}

/** One that the caller may change. @throws ControlRefused as `getView`; permission_denied for shared ones of others. */
async function findView(context: Caller, id: string): Promise<Row> {
  const { role } = context;
  const row = await getView(context, id);
  if (isEditable(row, context)) return row;
  const text = `your role is ${role}; changing a shared view of others requires the role ${rolesThatMay(ofOthers)}`;
  throw new ControlRefused('permission_denied', text);
}

function isOwn({ ownerId }: Pick<Row, 'ownerId'>, actor: Caller['actor']): boolean {
  return ownerId !== null && ownerId === userOf(actor);
}

function isEditable(row: Row, { actor, role }: Caller): boolean {
  if (role === null || !may(role, 'views:write')) return false;
  return isOwn(row, actor) || (row.shared && may(role, ofOthers));
}

function shown(caller: Caller, row: Row): ShownView {
  const { id, page, name, query, shared, ownerId, owner, createdAt } = row;
  return {
    id,
    page: pageOfView(page),
    name,
    query,
    shared,
    author: ownerId && owner ? { id: ownerId, name: owner.name ?? owner.email } : null,
    own: isOwn(row, caller.actor),
    editable: isEditable(row, caller),
    weekly: row.subscriptions.length > 0,
    alert: alertOf(row),
    createdAt: createdAt.toISOString(),
  };
}

function pageOfView(stored: string): ViewPage {
  return viewPages.find((one) => one === stored) ?? 'logs';
}

function alertOf({ alertOver: over, alertWindow }: SavedView): ShownView['alert'] {
  const window = viewWindows.find((one) => one === alertWindow) ?? 'hour';
  return over === null ? null : { over, window };
}

function stateOf({ page, name, query, shared }: SavedView): State {
  return { page, name, query, shared };
}
