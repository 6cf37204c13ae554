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
import {
  mostViews,
  queryOf,
  type ShownView,
  shownView,
  viewFields,
  viewPages,
} from '#lib/control/operations/view/settings';
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
      include: withAuthor,
    });
    return { data: inOrderOf(ids, rows).map((row) => shown(context, row)), next };
  },
});

const byName = { name: { sql: 'lower(v.name)', type: 'text' } } as const satisfies Record<string, Order>;
const withAuthor = { owner: { select: { name: true, email: true } } } as const;

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
      include: withAuthor,
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

export const viewOperations = [listViews, createView, renameView, deleteView];

type Row = SavedView & { owner: { name: string | null; email: string } | null };

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

/**
 * A view that the caller may change.
 * @throws ControlRefused not_found, also for the private views of others; permission_denied for shared ones of others.
 */
async function findView(context: Caller, id: string): Promise<Row> {
  const { store, scope, actor, role } = context;
  const where = { ...inScope(scope), id };
  const row = isUuid(id) ? await store.prisma.savedView.findFirst({ where, include: withAuthor }) : null;
  if (row === null || !(row.shared || isOwn(row, actor)))
    throw notFound(`there is no saved view ${quoted(id)}; check its id`, 'id');
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
    page: viewPages.find((one) => one === page) ?? 'logs',
    name,
    query,
    shared,
    author: ownerId && owner ? { id: ownerId, name: owner.name ?? owner.email } : null,
    own: isOwn(row, caller.actor),
    editable: isEditable(row, caller),
    createdAt: createdAt.toISOString(),
  };
}

function stateOf({ page, name, query, shared }: SavedView): State {
  return { page, name, query, shared };
}
