import type { Context } from '#lib/control/declare';
import { isUuid } from '#lib/control/field/kinds';
import type { ShownMember } from '#lib/control/member/settings';
import { ControlRefused, conflict, notFound, quoted } from '#lib/control/refusal';
import { may, mayGive, type Role, roleOf, rolesThatMay } from '#lib/control/role';
import type { WorkspaceScope } from '#lib/control/scope';
import type { Store } from '#lib/control/store';

interface MemberRow {
  userId: string;
  role: string;
  createdAt: Date;
  user: { email: string; name: string | null };
}

/** What reads as a member needs of a row. */
export const memberFields = {
  userId: true,
  role: true,
  createdAt: true,
  user: { select: { email: true, name: true } },
} as const;

/** A stored role that is none reads as the one that may least. */
export function showMember({ userId, role, createdAt, user }: MemberRow): ShownMember {
  return { id: userId, ...user, role: roleOf(role) ?? 'viewer', since: createdAt.toISOString() };
}

/** What an audit row and an entity tag say of a member. */
export function stateOf({ email, role }: Pick<ShownMember, 'email' | 'role'>) {
  return { email, role };
}

/**
 * A member of the scope.
 * @param named their id or their e-mail address, in lower case.
 * @throws ControlRefused not_found.
 */
export async function findMember(
  { prisma }: Store,
  { workspaceId }: WorkspaceScope,
  named: string,
): Promise<ShownMember> {
  // PostgreSQL stores no NUL; asked for one, it would raise.
  const user = isUuid(named) ? { id: named } : { email: named.replaceAll('\0', '\uFFFD') };
  const row = await prisma.member.findFirst({ where: { workspaceId, user }, select: memberFields });
  if (row === null)
    throw notFound(`there is no member ${quoted(named)}; member list has all of them`, 'member');
  return showMember(row);
}

/** @throws ControlRefused permission_denied: owners are made, changed and removed by owners. */
export function refuseOwners({ role: own }: Context, ...touched: readonly Role[]): void {
  if (own === null || !touched.includes('owner') || may(own, 'owners:write')) return;
  const text = `your role is ${own}; only the role ${rolesThatMay('owners:write')} changes owners`;
  throw new ControlRefused('permission_denied', text, 'role');
}

/** @throws ControlRefused (conflict) when nobody else is an owner. The workspace is locked: it stays true. */
export async function keepAnOwner(
  { prisma }: Store,
  { workspaceId }: WorkspaceScope,
  leaving: string,
): Promise<void> {
  const where = { workspaceId, role: 'owner', userId: { not: leaving } };
  if ((await prisma.member.count({ where })) > 0) return;
  throw conflict('a workspace keeps at least one owner; make another member owner first', 'member');
}

/**
 * Ends the management keys that a member could no longer make, for good (contract: control-plane/members): they stay
 * void when the role comes back.
 * @param role the one that they have from now on; null: none.
 * @returns how many.
 */
export async function revokeManagementKeys(
  { prisma }: Store,
  { workspaceId }: WorkspaceScope,
  userId: string,
  role: Role | null,
): Promise<number> {
  const maker = await prisma.user.findUnique({ where: { id: userId }, select: { operator: true } });
  if (maker?.operator) return 0;
  const own = await prisma.managementKey.findMany({
    where: { workspaceId, createdBy: userId, revokedAt: null },
    select: { id: true, role: true },
  });
  const lost = own.filter((key) => {
    const given = key.role === null ? null : roleOf(key.role);
    return role === null || given === null || !mayGive(role, given);
  });
  const where = { id: { in: lost.map(({ id }) => id) } };
  await prisma.managementKey.updateMany({ where, data: { revokedAt: new Date() } });
  return lost.length;
}
