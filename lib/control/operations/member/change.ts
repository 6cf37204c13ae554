import type { Context } from '#lib/control/operations/declare';
import { isUuid } from '#lib/control/operations/field/kinds';
import { withdrawInvitations } from '#lib/control/operations/invitation/withdraw';
import type { ShownMember } from '#lib/control/operations/member/settings';
import { ControlRefused, conflict, notFound, quoted } from '#lib/control/operations/refusal';
import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { may, mayGive, type Role, roleOf, rolesThatMay } from '#lib/core/role';

interface MemberRow {
  userId: string;
  role: string;
  createdAt: Date;
  user: { email: string; name: string | null };
}

/** The columns of a member. */
export const memberFields = {
  userId: true,
  role: true,
  createdAt: true,
  user: { select: { email: true, name: true } },
} as const;

/** An unknown stored role counts as the role with the fewest permissions. */
export function showMember({ userId, role, createdAt, user }: MemberRow): ShownMember {
  return { id: userId, ...user, role: roleOf(role) ?? 'viewer', since: createdAt.toISOString() };
}

/** What audit rows and entity tags of a member are built from. */
export function stateOf({ email, role }: Pick<ShownMember, 'email' | 'role'>) {
  return { email, role };
}

/**
 * A member of the scope.
 * @param named their id or their email address, in lower case.
 * @throws ControlRefused not_found.
 */
export async function findMember(
  { prisma }: Store,
  { workspaceId }: WorkspaceScope,
  named: string,
): Promise<ShownMember> {
  // PostgreSQL cannot store NUL and would raise an error.
  const user = isUuid(named) ? { id: named } : { email: named.replaceAll('\0', '\uFFFD') };
  const row = await prisma.member.findFirst({ where: { workspaceId, user }, select: memberFields });
  if (row === null)
    throw notFound(`there is no member ${quoted(named)}; "gateway member list" shows all members`, 'member');
  return showMember(row);
}

/** @throws ControlRefused permission_denied: only owners make, change and remove owners. */
export function refuseOwners({ role: own }: Context, ...touched: readonly Role[]): void {
  if (own === null || !touched.includes('owner') || may(own, 'owners:write')) return;
  const text = `your role is ${own}; only the role ${rolesThatMay('owners:write')} can change owners`;
  throw new ControlRefused('permission_denied', text, 'role');
}

/** @throws ControlRefused (conflict) if there is no other owner. The workspace is locked, so this stays true. */
export async function keepAnOwner(
  { prisma }: Store,
  { workspaceId }: WorkspaceScope,
  leaving: string,
): Promise<void> {
  const where = { workspaceId, role: 'owner', userId: { not: leaving } };
  if ((await prisma.member.count({ where })) > 0) return;
  throw conflict('a workspace needs at least one owner; make another member an owner first', 'member');
}

/** What ends when a member loses a role. */
export interface TakenBack {
  readonly managementKeys: number;
  readonly invitations: number;
}

/**
 * Ends for good what a member granted and could no longer grant (contract: control-plane/members): management keys and
 * open invitations. They do not come back with the role. Without any role, the member's own views
 * and weekly mails of views end too.
 * @param role the member's new role; null: none.
 */
export async function takeBack(
  store: Store,
  scope: WorkspaceScope,
  userId: string,
  role: Role | null,
): Promise<TakenBack> {
  const { prisma } = store;
  const { workspaceId } = scope;
  if (role === null) {
    await prisma.savedView.deleteMany({ where: { workspaceId, ownerId: userId, shared: false } });
    await prisma.viewSubscription.deleteMany({ where: { userId, view: { workspaceId } } });
  }
  const maker = await prisma.user.findUnique({ where: { id: userId }, select: { operator: true } });
  if (maker?.operator) return { managementKeys: 0, invitations: 0 };
  const lost = await lostManagementKeys(store, scope, userId, role);
  const where = { id: { in: lost.map(({ id }) => id) } };
  await prisma.managementKey.updateMany({ where, data: { revokedAt: new Date() } });
  const invitations = await withdrawInvitations(store, scope, userId, role);
  return { managementKeys: lost.length, invitations };
}

/** The active management keys that a member created and could not create with this role. */
export async function lostManagementKeys(
  { prisma }: Store,
  { workspaceId }: WorkspaceScope,
  userId: string,
  role: Role | null,
) {
  const own = await prisma.managementKey.findMany({
    where: { workspaceId, createdBy: userId, revokedAt: null },
    select: { id: true, name: true, role: true, displayStart: true, displayEnd: true },
    orderBy: { id: 'asc' },
  });
  return own.filter((key) => {
    const given = key.role === null ? null : roleOf(key.role);
    return role === null || given === null || !mayGive(role, given);
  });
}

/** The end of a change of members: every process reads again which API keys have lost their creator. */
export function changedMembers({ workspaceId }: WorkspaceScope, userId: string, taken?: TakenBack) {
  const { managementKeys = 0, invitations = 0 } = taken ?? {};
  const detail = {
    ...(managementKeys > 0 ? { revokedManagementKeys: managementKeys } : {}),
    ...(invitations > 0 ? { cancelledInvitations: invitations } : {}),
  };
  return {
    subject: userId,
    workspaceId,
    ...(Object.keys(detail).length > 0 ? { detail } : {}),
    changes: [{ kind: 'workspace' as const, subject: workspaceId }],
  };
}
