import type { TagBudget } from '#generated/client';
import { type Context, change, create, read, type State } from '#lib/control/operations/declare';
import { allOptional } from '#lib/control/operations/field/field';
import { isUuid } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging } from '#lib/control/operations/field/paging';
import { columnsOf } from '#lib/control/operations/field/settings';
import { badInput, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { inScope } from '#lib/control/operations/scope';
import {
  shownTagBudget,
  tagBudgetId,
  tagBudgetOf,
  tagBudgetSettings,
  tagBudgetSubject,
} from '#lib/control/operations/tag-budget/settings';
import { endUserName } from '#lib/core/facts/tags';
import { newRowId } from '#lib/platform/data/row-id';

const budgets = '/workspaces/{workspace}/tag-budgets';
/** All of them are in memory with each key of the workspace. */
const mostBudgets = 1_000;
const changeable = allOptional(tagBudgetSettings);

export const listTagBudgets = read({
  name: 'tag-budget.list',
  summary: 'Lists what end users, and calls with a tag, may spend and ask for.',
  reach: 'workspace',
  permission: 'keys:read',
  fields: paging,
  output: pageOf(shownTagBudget),
  http: [{ method: 'GET', path: budgets }],
  line: { columns: ['id', 'tag', 'value', 'dailyCap', 'd7Cap', 'd30Cap', 'rpm', 'tpm'] },
  run: async ({ store, scope }, { after, ...input }) => {
    if (after !== undefined && !isUuid(after))
      throw badInput('after', 'this is not the "next" of a page of budgets');
    const limit = limitOf(input);
    const rows = await store.prisma.tagBudget.findMany({
      where: { ...inScope(scope), ...(after === undefined ? {} : { id: { gt: after } }) },
      orderBy: { id: 'asc' },
      take: limit + 1,
    });
    const data = rows.slice(0, limit).map(tagBudgetOf);
    return { data, next: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  },
});

export const createTagBudget = create({
  name: 'tag-budget.create',
  summary:
    'Bounds what each end user, or calls with each value of a tag, may spend and ask for; with a value: only that one, in place of the others’ budget.',
  reach: 'workspace',
  permission: 'keys:write',
  fields: { ...tagBudgetSubject, ...changeable },
  output: shownTagBudget,
  http: [{ method: 'POST', path: budgets }],
  line: {},
  text: ({ id }) => `budget ${id} is in force`,
  run: async ({ store, scope }, { tag, value = '', ...settings }) => {
    const { workspaceId } = scope;
    const name = tag ?? endUserName;
    await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [workspaceId]);
    if ((await store.prisma.tagBudget.count({ where: { workspaceId } })) >= mostBudgets)
      throw conflict(`a workspace may have at most ${mostBudgets} budgets of tags and end users; delete one`);
    const known = await store.prisma.tagBudget.findFirst({ where: { workspaceId, name, value } });
    if (known !== null) throw conflict(`there is such a budget already; change ${known.id}`, 'value');
    const row = await store.prisma.tagBudget.create({
      data: { id: newRowId(), workspaceId, name, value, ...columnsOf(tagBudgetSettings, settings) },
    });
    return {
      result: tagBudgetOf(row),
      subject: row.id,
      before: null,
      after: stateOf(row),
      changes: [{ kind: 'workspace', subject: workspaceId }],
    };
  },
});

export const setTagBudget = change({
  name: 'tag-budget.set',
  summary: 'Changes a budget of end users or of a tag; what was spent before counts.',
  reach: 'workspace',
  permission: 'keys:write',
  fields: { id: tagBudgetId, ...changeable },
  output: shownTagBudget,
  http: [{ method: 'PATCH', path: `${budgets}/{id}` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `budget ${id} changed`,
  run: async (context, { id, ...settings }) => {
    const before = await lockBudget(context, id);
    context.expect(stateOf(before));
    const row = await context.store.prisma.tagBudget.update({
      where: { id },
      data: columnsOf(tagBudgetSettings, settings),
    });
    return {
      result: tagBudgetOf(row),
      subject: id,
      before: stateOf(before),
      after: stateOf(row),
      changes: [{ kind: 'workspace', subject: context.scope.workspaceId }],
    };
  },
});

export const deleteTagBudget = change({
  name: 'tag-budget.delete',
  summary: 'Deletes a budget of end users or of a tag, which ends it at once.',
  reach: 'workspace',
  permission: 'keys:write',
  fields: { id: tagBudgetId },
  output: shownTagBudget,
  http: [{ method: 'DELETE', path: `${budgets}/{id}` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `budget ${id} deleted`,
  run: async (context, { id }) => {
    const row = await lockBudget(context, id);
    await context.store.prisma.tagBudget.delete({ where: { id } });
    return {
      result: tagBudgetOf(row),
      subject: id,
      before: stateOf(row),
      after: null,
      changes: [{ kind: 'workspace', subject: context.scope.workspaceId }],
    };
  },
});

export const tagBudgetOperations = [listTagBudgets, createTagBudget, setTagBudget, deleteTagBudget];

async function lockBudget({ store, scope }: Context<'workspace'>, id: string): Promise<TagBudget> {
  const found = isUuid(id)
    ? await store.query(
        'SELECT 1 AS one FROM tag_budget WHERE id = $1::uuid AND workspace_id = $2::uuid FOR UPDATE',
        [id, scope.workspaceId],
      )
    : [];
  if (found.length === 0)
    throw notFound(`there is no budget ${quoted(id)}; "gateway tag-budget list" shows all`, 'id');
  return store.prisma.tagBudget.findUniqueOrThrow({ where: { id } });
}

function stateOf(row: TagBudget): State {
  const { id: _, createdAt: __, ...state } = tagBudgetOf(row);
  return state;
}
