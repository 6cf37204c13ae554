import { z } from 'zod';
import type { Workspace } from '#generated/client';
import { change, create, read } from '#lib/control/operations/declare';
import { allOptional, withPermission } from '#lib/control/operations/field/field';
import { line } from '#lib/control/operations/field/kinds';
import {
  conditionsOf,
  fieldsOf,
  limitOf,
  pageOf,
  paging,
  sortBy,
} from '#lib/control/operations/field/paging';
import { columnsOf } from '#lib/control/operations/field/settings';
import { badInput, notFound } from '#lib/control/operations/refusal';
import { deleteWorkspace, showDeletion } from '#lib/control/operations/workspace/delete';
import { listWorkspaces, readWorkspace, workspaceOrders } from '#lib/control/operations/workspace/find';
import { showLimits } from '#lib/control/operations/workspace/limits';
import { showMonth } from '#lib/control/operations/workspace/month';
import { openWorkspace } from '#lib/control/operations/workspace/open-workspace';
import { renameWorkspace } from '#lib/control/operations/workspace/rename';
import {
  changedWorkspace,
  listedWorkspace,
  newWorkspaceLimits,
  shownWorkspace,
  stateOfRow,
  stateOfShown,
  suspension,
  workspaceSettings,
} from '#lib/control/operations/workspace/settings';
import { insertWorkspace } from '#lib/control/operations/workspace/slug';
import { recallLeases } from '#lib/gateway/ledger/post-line';
import type { Change } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';

const workspaces = '/workspaces';
const { name, ...settings } = workspaceSettings;

/** Members who manage billing may set the budget and nothing else (contract: money/budget). */
const changeable = allOptional(withPermission({ ...workspaceSettings, ...suspension }, 'workspace:write'));

export const createWorkspace = create({
  name: 'workspace.create',
  summary: 'Creates a workspace, by default with 600 RPM, 4,000,000 TPM and 50 concurrent calls.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: { name, ...allOptional(settings) },
  output: z.object({ id: z.uuid(), slug: z.string() }),
  http: [{ method: 'POST', path: workspaces }],
  line: {},
  text: ({ id, slug }) => `workspace ${slug} created (${id})`,
  run: async ({ store }, input) => {
    const id = newRowId();
    const columns = columnsOf(workspaceSettings, input);
    const row = await insertWorkspace(store, { id, name: input.name, ...newWorkspaceLimits, ...columns });
    return {
      result: { id, slug: row.slug },
      subject: id,
      workspaceId: id,
      before: null,
      after: stateOfRow(row),
      changes: [{ kind: 'workspace', subject: id }],
    };
  },
});

export const setWorkspace = change({
  name: 'workspace.set',
  summary:
    'Changes settings of a workspace; omitted fields and the slug are unchanged. The role billing may change only the budget.',
  reach: 'workspace',
  permission: 'billing:write',
  fields: changeable,
  output: changedWorkspace,
  http: [{ method: 'PATCH', path: `${workspaces}/{workspace}` }],
  line: { arguments: ['workspace'] },
  text: ({ slug }) => `workspace ${slug} changed`,
  run: async (
    { store, scope, expect, nowMs },
    { suspended, suspendedReason, suspendedContact, ...input },
  ) => {
    const { workspaceId: id } = scope;
    await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [id]);
    const row = await store.prisma.workspace.findUniqueOrThrow({ where: { id } });
    const before = stateOfRow(row);
    expect(before);
    const stays = suspended ?? before.suspended;
    if (!stays && (suspendedReason || suspendedContact))
      throw badInput(
        'suspendedReason',
        'a workspace that is not suspended has no reason for it; suspend it with the same request',
      );
    const changed = await store.prisma.workspace.update({
      where: { id },
      data: {
        ...columnsOf(workspaceSettings, input),
        ...(stays
          ? {
              suspendedAt: row.suspendedAt ?? new Date(nowMs),
              ...(suspendedReason === undefined ? {} : { suspendedReason }),
              ...(suspendedContact === undefined ? {} : { suspendedContact }),
            }
          : { suspendedAt: null, suspendedReason: null, suspendedContact: null }),
      },
    });
    const changes: Change[] = [{ kind: 'workspace', subject: id }];
    if (changed.creditNano < row.creditNano || isBoundAnew(row, changed)) {
      changes.push(await recallLeases({ query: (text, values) => store.execute(text, values) }, id));
    }
    const after = stateOfRow(changed);
    return { result: { id, ...after }, subject: id, workspaceId: id, before, after, changes };
  },
});

/** Whether a hard budget binds from now on in another way, so that leases are granted again under it. */
function isBoundAnew(before: Workspace, after: Workspace): boolean {
  if (after.budgetNano === null || after.budgetMode !== 'hard') return false;
  return (
    before.budgetNano !== after.budgetNano ||
    before.budgetMode !== after.budgetMode ||
    before.timeZone !== after.timeZone
  );
}

export const showWorkspace = read({
  name: 'workspace.show',
  summary: 'Shows a workspace with its settings, money and keys.',
  reach: 'workspace',
  permission: 'workspace:read',
  output: shownWorkspace,
  state: stateOfShown,
  http: [{ method: 'GET', path: `${workspaces}/{workspace}` }],
  line: { arguments: ['workspace'] },
  run: async ({ store, scope, nowMs }) => {
    const found = await readWorkspace(store, scope, scope.workspaceId, nowMs);
    if (found === null) throw notFound('this workspace is gone', 'workspace');
    return found;
  },
});

const filters = {
  search: {
    field: line({ label: 'Search', help: 'Part of the name or slug, or the whole id.' }, 200),
    sql: (text: string) => `strpos(lower(w.name), lower(${text})) > 0 OR strpos(w.slug, lower(${text})) > 0
      OR w.id::text = lower(${text})`,
  },
};

export const listAllWorkspaces = read({
  name: 'workspace.list',
  summary: 'Lists all workspaces of this gateway, by default newest first.',
  reach: 'gateway',
  permission: 'gateway:read',
  fields: { ...fieldsOf(filters), sort: sortBy(workspaceOrders, '-created'), ...paging },
  output: pageOf(listedWorkspace),
  http: [{ method: 'GET', path: workspaces }],
  line: {},
  run: ({ store, scope, nowMs }, input) => {
    const conditions = (values: unknown[]) => conditionsOf(filters, input, values);
    const page = { conditions, sort: input.sort ?? '-created', after: input.after, limit: limitOf(input) };
    return listWorkspaces(store, scope, page, nowMs);
  },
});

export const workspaceOperations = [
  createWorkspace,
  setWorkspace,
  showWorkspace,
  listAllWorkspaces,
  openWorkspace,
  showDeletion,
  deleteWorkspace,
  renameWorkspace,
  showLimits,
  showMonth,
];
