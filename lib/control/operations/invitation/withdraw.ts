import type { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { may, type Role, roleOf } from '#lib/core/role';

/**
 * Cancels the open invitations that a member could no longer create, as management keys are revoked
 * (contract: control-plane/invitations). The workspace is locked.
 * @param role the member's new role; null: none.
 * @returns how many.
 */
export async function withdrawInvitations(
  { prisma }: Store,
  { workspaceId }: WorkspaceScope,
  userId: string,
  role: Role | null,
): Promise<number> {
  const open = await prisma.invitation.findMany({
    where: { workspaceId, invitedBy: userId, acceptedAt: null, cancelledAt: null },
    select: { id: true, role: true },
  });
  const lost = open.filter(({ role: given }) => !mayInvite(role, roleOf(given)));
  const where = { id: { in: lost.map(({ id }) => id) } };
  await prisma.invitation.updateMany({ where, data: { cancelledAt: new Date() } });
  return lost.length;
}

function mayInvite(role: Role | null, given: Role | null): boolean {
  if (role === null || !may(role, 'members:write')) return false;
  return given !== 'owner' || may(role, 'owners:write');
}
