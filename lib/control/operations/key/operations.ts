import { z } from 'zod';
import type { ApiKey } from '#generated/client';
import { userOf } from '#lib/control/operations/actor';
import { type Context, change, create, read } from '#lib/control/operations/declare';
import { allOptional, optional } from '#lib/control/operations/field/field';
import { choice, id, isUuid, line, words } from '#lib/control/operations/field/kinds';
import {
  conditionsOf,
  fieldsOf,
  filter,
  limitOf,
  pageOf,
  paging,
  placeOf,
  sortBy,
} from '#lib/control/operations/field/paging';
import { columnsOf } from '#lib/control/operations/field/settings';
import { changeKey, recallKeyLeases } from '#lib/control/operations/key/change';
import { getKey, keyOrders, pageOfKeys, pageOfSortedKeys, zoneOfKey } from '#lib/control/operations/key/find';
import { endOverlap, rotateKey } from '#lib/control/operations/key/rotate';
import { demoKey, madeKey, newSecret } from '#lib/control/operations/key/secret';
import {
  changedKey,
  keyId,
  keySettings,
  keyStates,
  keysPath as keys,
  shownKey,
  stateOfRow,
  stateOfShown,
} from '#lib/control/operations/key/settings';
import { showKeyUse } from '#lib/control/operations/key/use';
import { refuseUnknownModels } from '#lib/control/operations/known-models';
import { within } from '#lib/control/operations/scope';
import { newRowId } from '#lib/platform/data/row-id';

const { name, ...limits } = keySettings;

export const createKey = create({
  name: 'key.create',
  summary: 'Creates an active API key; limits that are omitted do not apply.',
  reach: 'workspace',
  permission: 'keys:write',
  fields: { name, ...allOptional(limits) },
  output: madeKey,
  http: [{ method: 'POST', path: keys }],
  line: {},
  text: ({ id, key }) => `key ${id} created; it is shown only once:\n${key}`,
  run: async (context, input) => {
    const { store, scope, keyPepper } = context;
    if (scope.demo) throw demoKey();
    await refuseUnknownModels(context, input.models);
    const id = newRowId();
    const { key, columns } = newSecret(keyPepper);
    const row = await store.prisma.apiKey.create({
      data: {
        id,
        workspaceId: scope.workspaceId,
        name: input.name,
        ...columns,
        models: [],
        ...columnsOf(keySettings, input),
        createdBy: await makerOf(context),
      },
    });
    return {
      result: { id, key },
      subject: id,
      before: null,
      after: stateOfRow(row),
      changes: [{ kind: 'key', subject: id }],
    };
  },
});

export const setKey = change({
  name: 'key.set',
  summary:
    'Changes settings of a key; omitted fields are unchanged. Raising the quota clears the quota flag.',
  reach: 'subject',
  permission: 'keys:write',
  fields: { id: keyId, ...allOptional(keySettings) },
  output: changedKey,
  http: [{ method: 'PATCH', path: `${keys}/{id}` }],
  line: { arguments: ['id'] },
  text: ({ id }) => `key ${id} changed`,
  zone: zoneOfKey,
  run: async (context, { id, ...input }) => {
    await refuseUnknownModels(context, input.models);
    return changeKey(context, id, async (key) => {
      const capped = [input.dailyCap, input.d7Cap, input.d30Cap, input.quota].some(
        (one) => one !== undefined,
      );
      return {
        data: { ...columnsOf(keySettings, input), quotaExhausted: flagAfter(key, input.quota) },
        changes: capped ? [await recallKeyLeases(context, id)] : [],
      };
    });
  },
});

/** A key without a list may call every model. */
const allModels = { models: 'all models' };

export const showKey = read({
  name: 'key.show',
  summary: 'Shows a key with its settings and spend.',
  reach: 'subject',
  permission: 'keys:read',
  fields: { id: keyId },
  output: shownKey,
  state: stateOfShown,
  http: [{ method: 'GET', path: `${keys}/{id}` }],
  line: { arguments: ['id'], unset: allModels },
  run: (context, { id }) => getKey(context, id),
});

const filters = {
  status: filter({
    field: choice({ label: 'Status', help: 'Keys with this status.', example: 'active' }, keyStates),
    sql: (status) => `k.status = ${status}`,
  }),
  createdBy: filter({
    field: id({ label: 'Created by', help: 'Id of the user who created the key.' }),
    parameter: (given) => (isUuid(given) ? given : null),
    sql: (user) => `k.created_by = ${user}::uuid`,
  }),
  model: filter({
    field: words({ label: 'Model', help: 'Keys that may call this model.', example: 'openai/gpt-4.1' }),
    sql: (model) => `k.all_models OR ${model} = ANY (k.models)`,
  }),
  search: {
    field: line(
      { label: 'Search', help: 'Part of the name or of the displayed characters, or the whole id.' },
      200,
    ),
    sql: (text: string) => `strpos(lower(k.name), lower(${text})) > 0 OR k.id::text = lower(${text})
      OR strpos(k.display_start || '…' || k.display_end, ${text}) > 0`,
  },
};

export const listKeys = read({
  name: 'key.list',
  summary: 'Lists the keys of a workspace, by default the newest first and revoked keys last.',
  reach: 'workspace',
  permission: 'keys:read',
  fields: { ...fieldsOf(filters), sort: sortBy(keyOrders, 'newest first, revoked keys last'), ...paging },
  output: pageOf(shownKey),
  http: [{ method: 'GET', path: keys }],
  line: { unset: allModels },
  run: (context, input) => {
    const conditions = (values: unknown[]) => conditionsOf(filters, input, values);
    const limit = limitOf(input);
    const { sort, after: given } = input;
    if (sort !== undefined) return pageOfSortedKeys(context, { conditions, sort, after: given, limit });
    const [, revoked, place = ''] = /^([01])\.(.*)$/.exec(given ?? '') ?? [];
    const after =
      given === undefined ? null : { revoked: revoked === '1', ...placeOf(place, 'a page of keys') };
    return pageOfKeys(context, { conditions, after, limit });
  },
});

export const enableKey = transition('enable', 'Enables a disabled key.', { status: 'active' });
export const disableKey = transition('disable', 'Disables a key: its calls are refused.', {
  status: 'inactive',
});
export const exhaustKey = transition('exhaust', 'Sets the quota flag by hand.', { quotaExhausted: true });
export const restoreKey = transition('restore', 'Clears the quota flag by hand.', { quotaExhausted: false });
export const revokeKey = transition('revoke', 'Revokes a key for good.', {
  status: 'revoked',
});

/** For a choice of keys: without their spend, which is expensive to read. */
export const listKeyNames = read({
  name: 'key.names',
  summary: 'Lists the names of the newest keys of a workspace whose name has a text, and of the chosen key.',
  reach: 'workspace',
  permission: 'keys:read',
  fields: { search: optional(filters.search.field), limit: paging.limit, chosen: optional(keyId) },
  output: z.object({ data: z.array(z.object({ id: z.uuid(), name: z.string() })) }),
  run: async ({ store, scope }, input) => {
    const values: unknown[] = [limitOf(input), isUuid(input.chosen ?? '') ? input.chosen : null];
    const inside = within(scope, 'k.workspace_id', values);
    const where = [
      inside,
      'k.session_id IS NULL',
      ...conditionsOf({ search: filters.search }, input, values),
    ];
    const data = await store.query<{ id: string; name: string }>(
      `(SELECT k.id::text AS id, k.name FROM api_key k WHERE ${where.join(' AND ')}
         ORDER BY k.created_at DESC, k.id DESC LIMIT $1)
       UNION SELECT k.id::text, k.name FROM api_key k WHERE ${inside} AND k.id = $2::uuid ORDER BY name, id`,
      values,
    );
    return { data };
  },
});

export const listKeyMakers = read({
  name: 'key.makers',
  summary: 'Lists who created keys of a workspace.',
  reach: 'workspace',
  permission: 'keys:read',
  output: z.object({ data: z.array(z.object({ id: z.uuid(), name: z.string() })) }),
  run: async ({ store, scope }) => {
    const values: unknown[] = [];
    const data = await store.query<{ id: string; name: string }>(
      `SELECT u.id::text AS id, coalesce(u.name, u.email) AS name FROM "user" u WHERE u.id IN (
         SELECT created_by FROM api_key WHERE ${within(scope, 'workspace_id', values)} AND session_id IS NULL
       ) ORDER BY name, id`,
      values,
    );
    return { data };
  },
});

export const keyOperations = [
  createKey,
  setKey,
  showKey,
  listKeys,
  listKeyNames,
  listKeyMakers,
  enableKey,
  disableKey,
  exhaustKey,
  restoreKey,
  revokeKey,
  rotateKey,
  endOverlap,
  showKeyUse,
];

/** One transition of a key (contract: authentication/states). Repeating it changes nothing and is not an error. */
function transition(
  verb: 'enable' | 'disable' | 'exhaust' | 'restore' | 'revoke',
  summary: string,
  to: Partial<Pick<ApiKey, 'status' | 'quotaExhausted'>>,
) {
  return change({
    name: `key.${verb}`,
    summary,
    reach: 'subject',
    permission: 'keys:write',
    fields: { id: keyId },
    output: changedKey,
    http: [{ method: 'POST', path: `${keys}/{id}/${verb}` }],
    line: { arguments: ['id'] },
    text: (key) => `key ${key.id} is ${key.status}${key.quotaExhausted ? ', quota exhausted' : ''}`,
    run: (context, { id }) =>
      changeKey(context, id, async (key) => {
        const same = (to.status ?? key.status) === key.status;
        if (same && (to.quotaExhausted ?? key.quotaExhausted) === key.quotaExhausted) return null;
        // The calls of a revoked key may not be repeated (contract: repeats/deleted).
        if (to.status === 'revoked')
          await context.store.prisma.keptAnswer.deleteMany({ where: { keyId: id } });
        return { data: to };
      }),
  });
}

/** The quota flag after the quota is set; undefined leaves it. */
function flagAfter(key: ApiKey, quotaNano: bigint | null | undefined): boolean {
  if (quotaNano === undefined || quotaNano === key.quotaNano) return key.quotaExhausted;
  if (quotaNano === null) return false;
  if (key.spentNano >= quotaNano) return true;
  return key.quotaNano !== null && quotaNano > key.quotaNano ? false : key.quotaExhausted;
}

/**
 * The member who creates the key: if that member leaves, the key stops (contract: authentication/inactive-reasons).
 */
async function makerOf({ store, actor, scope }: Context<'workspace'>): Promise<string | null> {
  const userId = userOf(actor);
  if (userId === null) return null;
  const where = { workspaceId_userId: { workspaceId: scope.workspaceId, userId } };
  return (await store.prisma.member.findUnique({ where }))?.userId ?? null;
}
