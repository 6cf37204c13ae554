import { change, create, read } from '#lib/control/operations/declare';
import { isUuid, line } from '#lib/control/operations/field/kinds';
import {
  conditionsOf,
  fieldsOf,
  keysetOf,
  limitOf,
  nextOf,
  pageOf,
  paging,
  sortBy,
  timeOrder,
} from '#lib/control/operations/field/paging';
import {
  changedMembers,
  findMember,
  keepAnOwner,
  memberFields,
  refuseOwners,
  showMember,
  stateOf,
  takeBack,
} from '#lib/control/operations/member/change';
import { whatStops } from '#lib/control/operations/member/keys';
import { leaveWorkspace, transferOwnership } from '#lib/control/operations/member/own';
import { memberEmail, memberName, memberRole, shownMember } from '#lib/control/operations/member/settings';
import { badInput, conflict, notFound } from '#lib/control/operations/refusal';
import { inScope, type WorkspaceScope, within } from '#lib/control/operations/scope';
import type { ReadStore } from '#lib/control/operations/store';
import { wholeDays } from '#lib/control/operations/usage/range';
import { merged } from '#lib/control/operations/usage/report';
import { readUsage } from '#lib/control/operations/usage/sums';
import { rangeNamed } from '#lib/core/charts/ranges';
import { knownZone } from '#lib/core/charts/zone';

const members = '/workspaces/{workspace}/members';

export const addMember = create({
  name: 'member.add',
  summary: 'Makes a user a member of a workspace.',
  reach: 'workspace',
  permission: 'members:write',
  exclusive: true,
  fields: { email: memberEmail, role: memberRole },
  output: shownMember,
  http: [{ method: 'POST', path: members }],
  line: {},
  text: ({ email, role }) => `${email} is now a member (${role})`,
  run: async (context, { email, role }) => {
    const { store, scope } = context;
    refuseOwners(context, role);
    const user = await store.prisma.user.findUnique({ where: { email }, select: { id: true } });
    if (user === null) throw notFound(`there is no user ${email}; ask them to sign up first`, 'email');
    const data = [{ workspaceId: scope.workspaceId, userId: user.id, role }];
    const { count } = await store.prisma.member.createMany({ data, skipDuplicates: true });
    if (count === 0) throw conflict(`${email} is already a member; change the role instead`, 'email');
    const added = await findMember(store, scope, user.id);
    return { ...changedMembers(scope, added.id), result: added, before: null, after: stateOf(added) };
  },
});

export const setMember = change({
  name: 'member.set',
  summary:
    'Changes the role of a member; management keys that the member could no longer create are revoked.',
  reach: 'workspace',
  permission: 'members:write',
  exclusive: true,
  fields: { member: memberName, role: memberRole },
  output: shownMember,
  http: [{ method: 'PATCH', path: `${members}/{member}` }],
  line: {},
  text: ({ email, role }) => `${email} now has the role ${role}`,
  run: async (context, { member, role }) => {
    const { store, scope } = context;
    const old = await findMember(store, scope, member);
    context.expect(stateOf(old));
    refuseOwners(context, role, old.role);
    if (old.role === 'owner' && role !== 'owner') await keepAnOwner(store, scope, old.id);
    const where = { workspaceId_userId: { workspaceId: scope.workspaceId, userId: old.id } };
    await store.prisma.member.update({ where, data: { role } });
    const taken = await takeBack(store, scope, old.id, role);
    const result = { ...old, role };
    return {
      ...changedMembers(scope, old.id, taken),
      result,
      before: stateOf(old),
      after: stateOf(result),
    };
  },
});

export const removeMember = change({
  name: 'member.remove',
  summary: 'Removes a member: API keys that the member created stop, and management keys are revoked.',
  reach: 'workspace',
  permission: 'members:write',
  exclusive: true,
  fields: { member: memberName },
  output: shownMember,
  http: [{ method: 'DELETE', path: `${members}/{member}` }],
  line: {},
  text: ({ email }) => `${email} is no longer a member`,
  run: async (context, { member }) => {
    const { store, scope } = context;
    const old = await findMember(store, scope, member);
    context.expect(stateOf(old));
    refuseOwners(context, old.role);
    if (old.role === 'owner') await keepAnOwner(store, scope, old.id);
    const where = { workspaceId_userId: { workspaceId: scope.workspaceId, userId: old.id } };
    await store.prisma.member.delete({ where });
    const taken = await takeBack(store, scope, old.id, null);
    return { ...changedMembers(scope, old.id, taken), result: old, before: stateOf(old), after: null };
  },
});

const showMemberOf = read({
  name: 'member.show',
  summary: 'Shows a member with the role; its entity tag is for changing it.',
  reach: 'workspace',
  permission: 'members:read',
  fields: { member: memberName },
  output: shownMember,
  state: stateOf,
  http: [{ method: 'GET', path: `${members}/{member}` }],
  line: {},
  run: ({ store, scope }, { member }) => findMember(store, scope, member),
});

const memberFilters = {
  search: {
    field: line({ label: 'Search', help: 'Part of the name or email address.' }, 200),
    sql: (text: string) => `strpos(lower(u.name), lower(${text})) > 0 OR strpos(u.email, lower(${text})) > 0`,
  },
};

/** What members can be ranked by. `s` is what the keys of each spent this month, which only its own order reads. */
const memberOrders = {
  name: { sql: 'lower(coalesce(u.name, u.email))', type: 'text' },
  role: { sql: 'm.role', type: 'text' },
  spend: { sql: 'coalesce(s.nano, 0)', type: 'bigint' },
  since: timeOrder('m.created_at'),
} as const;

export const listMembers = read({
  name: 'member.list',
  summary: 'Lists the members of a workspace with their roles.',
  reach: 'workspace',
  permission: 'members:read',
  fields: { ...fieldsOf(memberFilters), sort: sortBy(memberOrders, 'by id'), ...paging },
  output: pageOf(shownMember),
  http: [{ method: 'GET', path: members }],
  line: {},
  run: async ({ store, scope, nowMs }, input) => {
    const { after, search } = input;
    const sort = input.sort ?? (typeof search === 'string' ? 'name' : undefined);
    const limit = limitOf(input);
    if (sort !== undefined) {
      const conditions = (values: unknown[]) => conditionsOf(memberFilters, input, values);
      const spent = /^-?spend$/.test(sort) ? await readSpendOfMonth(store, scope, nowMs) : null;
      return sortedMembers(store, scope, { conditions, spent, sort, after, limit });
    }
    if (after !== undefined && !isUuid(after))
      throw badInput('after', 'this is not the "next" of a page of members');
    const rows = await store.prisma.member.findMany({
      where: { ...inScope(scope), ...(after === undefined ? {} : { userId: { gt: after } }) },
      select: memberFields,
      orderBy: { userId: 'asc' },
      take: limit + 1,
    });
    const data = rows.slice(0, limit).map(showMember);
    return { data, next: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
  },
});

async function sortedMembers(
  store: ReadStore,
  scope: WorkspaceScope,
  page: {
    readonly conditions: (values: unknown[]) => readonly string[];
    /** Nano-dollars by user id. */
    readonly spent: ReadonlyMap<string, bigint> | null;
    readonly sort: string;
    readonly after: string | undefined;
    readonly limit: number;
  },
) {
  const values: unknown[] = [page.limit + 1];
  const own = [within(scope, 'm.workspace_id', values), ...page.conditions(values)];
  const { place, orderBy, conditions } = keysetOf(memberOrders, page, 'm.user_id', values);
  const join = page.spent
    ? `LEFT JOIN unnest($${values.push([...page.spent.keys()])}::uuid[],
        $${values.push([...page.spent.values()].map(String))}::bigint[]) AS s (id, nano) ON s.id = m.user_id`
    : '';
  const people = /^-?name$/.test(page.sort) || own.length > 1 ? 'JOIN "user" u ON u.id = m.user_id' : '';
  const found = await store.query<{ id: string; place: string }>(
    `SELECT m.user_id::text AS id, ${place} AS place FROM member m ${people} ${join}
     WHERE ${[...own, ...conditions].join(' AND ')} ORDER BY ${orderBy} LIMIT $1`,
    values,
  );
  const ids = found.slice(0, page.limit).map(({ id }) => id);
  const rows = await store.prisma.member.findMany({
    where: { ...inScope(scope), userId: { in: ids } },
    select: memberFields,
  });
  const byId = new Map(rows.map((row) => [showMember(row).id, showMember(row)]));
  return { data: ids.flatMap((id) => byId.get(id) ?? []), next: nextOf(found, page.limit, page.sort) };
}

/** What the keys of each member spent in this calendar month of the workspace, nano-dollars by user id. */
async function readSpendOfMonth(
  store: ReadStore,
  scope: WorkspaceScope,
  nowMs: number,
): Promise<ReadonlyMap<string, bigint>> {
  const range = await wholeDays(store, scope, rangeNamed('month', nowMs, knownZone(scope.timeZone)));
  const parts = await readUsage(store, scope, { range, split: 'member', durations: false });
  return new Map(
    merged(parts, ({ value }) => value).flatMap(({ value, sums }) =>
      isUuid(value) ? [[value, sums.costNano]] : [],
    ),
  );
}

export const memberOperations = [
  addMember,
  setMember,
  removeMember,
  showMemberOf,
  listMembers,
  whatStops,
  leaveWorkspace,
  transferOwnership,
];
