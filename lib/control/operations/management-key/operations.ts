import { z } from 'zod';
import type { ManagementKey } from '#generated/client';
import { type Actor, userOf } from '#lib/control/operations/actor';
import { type Context, change, create, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, id as idField, isUuid, name, toggle } from '#lib/control/operations/field/kinds';
import {
  inOrderOf,
  limitOf,
  pageOf,
  pageOfIds,
  paging,
  sortBy,
  timeOrder,
} from '#lib/control/operations/field/paging';
import { madeKey } from '#lib/control/operations/key/secret';
import { badInput, ControlRefused, notFound, quoted } from '#lib/control/operations/refusal';
import { inScope, type Scope, WorkspaceScope, within } from '#lib/control/operations/scope';
import type { ReadStore, Store } from '#lib/control/operations/store';
import { mayGive, type Role, roleOf, roles } from '#lib/core/role';
import { newRowId } from '#lib/platform/data/row-id';
import { displayOf, hashKey, makeManagementKey } from '#lib/platform/secrets';

const ofWorkspace = '/workspaces/{workspace}/management-keys';
const ofOperator = '/management-keys';

const shownManagementKey = z.object({
  id: z.uuid(),
  name: z.string(),
  workspace: z.string().nullable().describe('Slug; null: an operator’s key.'),
  role: z.enum(roles).nullable(),
  operator: z.boolean(),
  status: z.enum(['active', 'revoked']),
  display: z.string(),
  madeBy: z
    .string()
    .nullable()
    .describe('Email of the member who created it and with whose role it ends; null: the operator.'),
  lastUsedAt: z.iso.datetime().nullable().describe('To the minute; null: never.'),
  createdAt: z.iso.datetime(),
});
type ShownManagementKey = z.output<typeof shownManagementKey>;

export const createManagementKey = create({
  name: 'management-key.create',
  summary: 'Creates a key for the management API: for a workspace with a role, or for the operator.',
  reach: 'subject',
  permission: 'management-keys:write',
  fields: {
    name: name({ label: 'Name', help: 'Who or what uses the key.', example: 'terraform' }),
    role: optional(
      choice(
        {
          label: 'Role',
          help: 'Its role in the workspace, at most your own.',
          example: 'admin',
        },
        roles,
      ),
    ),
    operator: optional(
      toggle({ label: 'Operator', help: 'Works in every workspace and belongs to none.', example: true }),
    ),
  },
  output: madeKey,
  http: [
    { method: 'POST', path: ofWorkspace },
    { method: 'POST', path: ofOperator },
  ],
  line: { workspace: 'optional' },
  text: ({ id, key }) => `management key ${id} created; it is shown only once:\n${key}`,
  run: async (context, input) => {
    const { store, scope, keyPepper, actor } = context;
    const role = roleFor(context, input);
    const workspaceId = scope instanceof WorkspaceScope ? scope.workspaceId : null;
    const id = newRowId();
    const key = makeManagementKey();
    const { start, end } = displayOf(key);
    const row = await store.prisma.managementKey.create({
      data: {
        id,
        workspaceId,
        role,
        name: input.name,
        hash: new Uint8Array(hashKey(key, keyPepper)),
        displayStart: start,
        displayEnd: end,
        createdBy: userOf(actor),
      },
    });
    const after = stateOfRow(row);
    return { result: { id, key }, subject: id, workspaceId, before: null, after };
  },
});

/** The role of the key; null: it is an operator's key. */
function roleFor(
  { scope, role: own }: Context<'subject'>,
  input: { readonly role?: Role | undefined; readonly operator?: boolean | undefined },
): Role | null {
  if (!(scope instanceof WorkspaceScope)) {
    if (input.role !== undefined)
      throw badInput('workspace', 'a role belongs to a workspace; name the workspace');
    if (input.operator === true) return null;
    throw badInput('workspace', 'name the workspace, or create an operator’s key');
  }
  if (input.operator === true) throw badInput('operator', 'an operator’s key belongs to no workspace');
  if (input.role === undefined) throw badInput('role', `choose a role: ${roles.join(', ')}`);
  if (own === null || !mayGive(own, input.role)) {
    throw new ControlRefused(
      'permission_denied',
      `your role is ${own}, so you cannot create a key with the role ${input.role}; ask an owner`,
      'role',
    );
  }
  return input.role;
}

const keyOrders = {
  name: { sql: 'lower(k.name)', type: 'text' },
  lastUsed: timeOrder('k.last_used_at', 'earliest'),
  created: timeOrder('k.created_at'),
} as const;

export const listManagementKeys = read({
  name: 'management-key.list',
  summary: 'Lists the management keys of a workspace, newest first; for operators, of all workspaces.',
  reach: 'subject',
  permission: 'management-keys:read',
  fields: { sort: sortBy(keyOrders, 'newest first'), ...paging },
  output: pageOf(shownManagementKey),
  http: [
    { method: 'GET', path: ofWorkspace },
    { method: 'GET', path: ofOperator },
  ],
  line: { workspace: 'optional' },
  run: async ({ store, scope }, input) => {
    const limit = limitOf(input);
    if (input.sort !== undefined) return sortedKeys(store, scope, { ...input, sort: input.sort, limit });
    if (input.after !== undefined && !isUuid(input.after))
      throw badInput('after', 'this is not the "next" of a page of management keys');
    const rows = await store.prisma.managementKey.findMany({
      where: { ...inScope(scope), ...(input.after === undefined ? {} : { id: { lt: input.after } }) },
      orderBy: { id: 'desc' },
      take: limit + 1,
      include: { workspace: { select: { slug: true } } },
    });
    const page = rows.slice(0, limit);
    const makers = await makersOf(store, page);
    return {
      data: page.map((row) => shown(row, row.workspace?.slug ?? null, makers)),
      next: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
    };
  },
});

async function sortedKeys(
  store: ReadStore,
  scope: Scope,
  page: { readonly sort: string; readonly after?: string | undefined; readonly limit: number },
) {
  const list = { from: 'management_key k', id: 'k.id', orders: keyOrders };
  const where = (values: unknown[]) => [within(scope, 'k.workspace_id', values)];
  const { ids, next } = await pageOfIds(store, { ...list, where }, page);
  const rows = await store.prisma.managementKey.findMany({
    where: { ...inScope(scope), id: { in: ids } },
    include: { workspace: { select: { slug: true } } },
  });
  const makers = await makersOf(store, rows);
  return {
    data: inOrderOf(ids, rows).map((row) => shown(row, row.workspace?.slug ?? null, makers)),
    next,
  };
}

export const revokeManagementKey = change({
  name: 'management-key.revoke',
  summary: 'Revokes a management key for good; revoking it again changes nothing.',
  reach: 'subject',
  permission: 'management-keys:write',
  fields: { id: idField({ label: 'Management key', help: 'Its id.' }) },
  output: z.object({ id: z.uuid(), status: z.literal('revoked') }),
  http: [
    { method: 'POST', path: `${ofWorkspace}/{id}/revoke` },
    { method: 'POST', path: `${ofOperator}/{id}/revoke` },
  ],
  line: { arguments: ['id'] },
  text: ({ id }) => `management key ${id} is revoked`,
  run: async ({ store, scope }, { id }) => {
    const values: unknown[] = [id];
    const found = isUuid(id)
      ? await store.query(
          `SELECT 1 AS one FROM management_key
           WHERE id = $1::uuid AND ${within(scope, 'workspace_id', values)} FOR NO KEY UPDATE`,
          values,
        )
      : [];
    if (found.length === 0) throw notFound(`there is no management key ${quoted(id)}; check its id`, 'id');
    const row = await store.prisma.managementKey.findUniqueOrThrow({ where: { id } });
    const revoked = await store.prisma.managementKey.update({
      where: { id },
      data: { revokedAt: row.revokedAt ?? new Date() },
    });
    return {
      result: { id, status: 'revoked' as const },
      subject: id,
      workspaceId: row.workspaceId,
      before: stateOfRow(row),
      after: stateOfRow(revoked),
    };
  },
});

const showOwnKey = read({
  name: 'management-key.me',
  summary: 'Shows the management key of the request.',
  reach: 'self',
  permission: null,
  output: shownManagementKey,
  http: [{ method: 'GET', path: '/me' }],
  run: async ({ store, actor }) => {
    const row = await store.prisma.managementKey.findUnique({
      where: { id: idOf(actor) },
      include: { workspace: { select: { slug: true } } },
    });
    if (row === null) throw notFound('this key no longer exists; create a new one');
    return shown(row, row.workspace?.slug ?? null, await makersOf(store, [row]));
  },
});

function idOf(actor: Actor): string {
  if (actor.kind === 'management-key') return actor.keyId;
  throw notFound('this request has no management key');
}

export const managementKeyOperations = [
  createManagementKey,
  listManagementKeys,
  revokeManagementKey,
  showOwnKey,
];

/** Email addresses of the creators of keys, by their ids. */
async function makersOf(
  { prisma }: Store,
  rows: readonly ManagementKey[],
): Promise<ReadonlyMap<string, string>> {
  const id = { in: rows.flatMap(({ createdBy }) => createdBy ?? []) };
  const users = await prisma.user.findMany({ where: { id }, select: { id: true, email: true } });
  return new Map(users.map((user) => [user.id, user.email]));
}

function shown(
  row: ManagementKey,
  workspace: string | null,
  makers: ReadonlyMap<string, string>,
): ShownManagementKey {
  return {
    id: row.id,
    ...stateOfRow(row),
    workspace,
    operator: row.workspaceId === null,
    madeBy: makers.get(row.createdBy ?? '') ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  };
}

function stateOfRow(row: ManagementKey) {
  return {
    name: row.name,
    role: row.role === null ? null : roleOf(row.role),
    status: row.revokedAt === null ? ('active' as const) : ('revoked' as const),
    display: `${row.displayStart}…${row.displayEnd}`,
  };
}
