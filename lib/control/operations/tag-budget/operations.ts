import { z } from 'zod';
import type { TagBudget } from '#generated/client';
import {
  type Context,
  change,
  create,
  type ReadContext,
  read,
  type State,
} from '#lib/control/operations/declare';
import { allOptional, optional } from '#lib/control/operations/field/field';
import { isUuid, line } from '#lib/control/operations/field/kinds';
import {
  inOrderOf,
  limitOf,
  type Order,
  pageOf,
  pageOfIds,
  paging,
  sortBy,
  timeOrder,
} from '#lib/control/operations/field/paging';
import { columnsOf } from '#lib/control/operations/field/settings';
import { conflict, notFound, quoted } from '#lib/control/operations/refusal';
import { inScope, within } from '#lib/control/operations/scope';
import type { ReadStore } from '#lib/control/operations/store';
import {
  capsOf,
  listedTagBudget,
  shownTagBudget,
  tagBudgetId,
  tagBudgetOf,
  tagBudgetSettings,
  tagBudgetSubject,
} from '#lib/control/operations/tag-budget/settings';
import {
  readTagLimited,
  readTagRefusal,
  readTagSpend,
  shownSpend,
  shownTagRefusal,
  showSpend,
} from '#lib/control/operations/tag-budget/spend';
import { endUserName } from '#lib/core/facts/tags';
import { newRowId } from '#lib/platform/data/row-id';

const budgets = '/workspaces/{workspace}/tag-budgets';
/** All of them are in memory with each key of the workspace. */
const mostBudgets = 1_000;
const changeable = allOptional(tagBudgetSettings);

/** Budgets of end users come first, and those of each value before those of one. */
const byTag = `CASE WHEN b.name = '${endUserName}' THEN '' ELSE b.name END || chr(10) || b.value`;
/** What budgets can be ranked by. `s` is what each value spent in 30 days, which only its own order reads. */
const orders = {
  tag: { sql: byTag, type: 'text' },
  dailyCap: { sql: 'coalesce(b.daily_cap_nano, 0)', type: 'bigint' },
  d7Cap: { sql: 'coalesce(b.d7_cap_nano, 0)', type: 'bigint' },
  d30Cap: { sql: 'coalesce(b.d30_cap_nano, 0)', type: 'bigint' },
  spend: { sql: 'coalesce(s.nano, 0)', type: 'bigint' },
  created: timeOrder('b.created_at'),
} as const satisfies Record<string, Order>;

const search = line({ label: 'Search', help: 'Part of the name of the tag, or of the value.' }, 256);

export const listTagBudgets = read({
  name: 'tag-budget.list',
  summary: 'Lists what end users, and calls with a tag, may spend and ask for, and what they spent.',
  reach: 'workspace',
  permission: 'keys:read',
  fields: {
    search: optional(search),
    sort: sortBy(orders, 'by tag, end users first'),
    ...paging,
  },
  output: pageOf(listedTagBudget),
  http: [{ method: 'GET', path: budgets }],
  line: { columns: ['id', 'tag', 'value', 'dailyCap', 'd7Cap', 'd30Cap', 'rpm', 'tpm'] },
  run: async (context, { search: text, sort = 'tag', after, ...input }) => {
    const { store, scope, nowMs } = context;
    const spent = /^-?spend$/.test(sort) ? await readAllSpend(context) : null;
    const list = {
      from: spent
        ? 'tag_budget b LEFT JOIN unnest($2::uuid[], $3::bigint[]) AS s (id, nano) ON s.id = b.id'
        : 'tag_budget b',
      id: 'b.id',
      orders,
      where: (values: unknown[]) => {
        if (spent)
          values.push(
            spent.map(({ id }) => id),
            spent.map(({ nano }) => String(nano)),
          );
        const own = within(scope, 'b.workspace_id', values);
        if (!text) return [own];
        const part = `lower($${values.push(text)}::text)`;
        return [
          own,
          `(strpos(lower(b.value), ${part}) > 0 OR strpos(lower(b.name || '=' || b.value), ${part}) > 0 AND b.name <> '${endUserName}')`,
        ];
      },
    };
    const { ids, next } = await pageOfIds(store, list, { sort, after, limit: limitOf(input) });
    const rows = inOrderOf(
      ids,
      await store.prisma.tagBudget.findMany({ where: { ...inScope(scope), id: { in: ids } } }),
    );
    const spendOf = await readTagSpend(store, scope, rows.filter(isOfOne), nowMs);
    const { tags, endUsers } = await readChoice(context);
    const limitedBy = await readTagLimited(store, scope, nowMs);
    const own = rows.some((row) => !isOfOne(row)) ? await readExceptions(context) : [];
    const data = await Promise.all(
      rows.map(async (row) => {
        const binds = row.name === endUserName ? endUsers : tags;
        const limited = binds ? limitedBy(row, own) : null;
        if (!isOfOne(row)) return { ...tagBudgetOf(row), spent: null, refusing: limited };
        const spend = spendOf(row);
        const refusing = binds
          ? await readTagRefusal(store, scope, row, { caps: capsOf(row), spend, nowMs })
          : null;
        return { ...tagBudgetOf(row), spent: showSpend(spend), refusing: refusing ?? limited };
      }),
    );
    return { data, next };
  },
});

const tagState = z.object({
  tag: z.string().nullable().describe('Name of the tag; null: the value is an end user.'),
  value: z.string(),
  recorded: z
    .boolean()
    .describe('Whether the workspace has such tags recorded; if not, no budget binds them.'),
  budget: shownTagBudget
    .nullable()
    .describe('The budget that binds it: its own, or else the one of each value; null: none does.'),
  spent: shownSpend,
  refusing: shownTagRefusal
    .nullable()
    .describe(
      'Why its calls are refused now, by a budget in dollars, or in the last hour by a limit a minute; null: they are not.',
    ),
});

export const showTagSpend = read({
  name: 'tag-budget.spend',
  summary:
    'Shows what an end user or a value of a tag has spent, which budget binds it, and whether that refuses its calls now.',
  reach: 'workspace',
  permission: 'keys:read',
  fields: { value: { ...tagBudgetSubject.value, required: true }, tag: tagBudgetSubject.tag },
  output: tagState,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/tag-spend' }],
  line: { arguments: ['value'] },
  run: async (context, { tag, value }) => {
    const { store, scope, nowMs } = context;
    const name = tag ?? endUserName;
    const subject = { name, value };
    const [spendOf, rows, choice] = await Promise.all([
      readTagSpend(store, scope, [subject], nowMs),
      store.prisma.tagBudget.findMany({ where: { ...inScope(scope), name, value: { in: [value, ''] } } }),
      readChoice(context),
    ]);
    const recorded = tag === undefined ? choice.endUsers : choice.tags;
    const row = rows.find(isOfOne) ?? rows[0];
    const spend = spendOf(subject);
    const facts = row && recorded ? { caps: capsOf(row), spend, nowMs } : null;
    const refusal = facts && (await readTagRefusal(store, scope, subject, facts));
    const limited = row && recorded ? await readTagLimited(store, scope, nowMs) : null;
    const { rpm, tpm } = row ?? { rpm: null, tpm: null };
    return {
      tag: tag ?? null,
      value,
      recorded,
      budget: row && recorded ? tagBudgetOf(row) : null,
      spent: showSpend(spend),
      refusing: refusal ?? limited?.({ ...subject, rpm, tpm }, []) ?? null,
    };
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

export const tagBudgetOperations = [
  listTagBudgets,
  showTagSpend,
  createTagBudget,
  setTagBudget,
  deleteTagBudget,
];

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

function isOfOne({ value }: Pick<TagBudget, 'value'>): boolean {
  return value !== '';
}

/** What the workspace has recorded (contract: tags/choice). */
function readChoice({ store, scope }: Pick<Context<'workspace'>, 'scope'> & { readonly store: ReadStore }) {
  return store.prisma.workspace.findUniqueOrThrow({
    where: { id: scope.workspaceId },
    select: { tags: true, endUsers: true },
  });
}

/** The values with a budget of their own. */
function readExceptions({ store, scope }: Pick<ReadContext<'workspace'>, 'store' | 'scope'>) {
  return store.prisma.tagBudget.findMany({
    where: { ...inScope(scope), NOT: { value: '' } },
    select: { name: true, value: true },
  });
}

/** What the values with a budget of their own spent in 30 days, nano-dollars, by the id of the budget. */
async function readAllSpend({ store, scope, nowMs }: ReadContext<'workspace'>) {
  const rows = await store.prisma.tagBudget.findMany({ where: { ...inScope(scope), NOT: { value: '' } } });
  const spendOf = await readTagSpend(store, scope, rows, nowMs);
  return rows.map((row) => ({ id: row.id, nano: spendOf(row).d30Nano }));
}

function stateOf(row: TagBudget): State {
  const { id: _, createdAt: __, ...state } = tagBudgetOf(row);
  return state;
}
