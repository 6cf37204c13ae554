import { z } from 'zod';
import { type Actor, userOf } from '#lib/control/operations/actor';
import { change } from '#lib/control/operations/declare';
import { words } from '#lib/control/operations/field/kinds';
import {
  changedMembers,
  findMember,
  keepAnOwner,
  stateOf,
  takeBack,
} from '#lib/control/operations/member/change';
import { memberName, shownMember } from '#lib/control/operations/member/settings';
import { checkPermission, checkVerified, reachOf } from '#lib/control/operations/reach';
import { badInput, notFound } from '#lib/control/operations/refusal';
import { WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';

const itsSlug = words({ label: 'Workspace', help: 'Its slug.', example: 'acme-labs' }, 100);

/** The caller as a member of a workspace, which is locked against all other changes of its members. */
async function ownMembership(store: Store, actor: Actor, workspace: string) {
  const reached = await reachOf(store, actor, { reach: 'workspace', workspace, lock: 'exclusive' });
  const { scope } = reached;
  const userId = actor.kind === 'user' ? userOf(actor) : null;
  if (!(scope instanceof WorkspaceScope) || userId === null) throw notFound('sign in first');
  return { reached, scope, own: await findMember(store, scope, userId) };
}

/** No permission is needed to leave, but the last owner cannot. */
export const leaveWorkspace = change({
  name: 'member.leave',
  summary: 'Leaves the workspace: API keys that you created stop, and your management keys are revoked.',
  reach: 'self',
  permission: null,
  fields: { workspace: itsSlug },
  output: z.object({ slug: z.string() }),
  run: async ({ store, actor }, { workspace }) => {
    const { scope, own } = await ownMembership(store, actor, workspace);
    if (own.role === 'owner') await keepAnOwner(store, scope, own.id);
    const where = { workspaceId_userId: { workspaceId: scope.workspaceId, userId: own.id } };
    await store.prisma.member.delete({ where });
    const taken = await takeBack(store, scope, own.id, null);
    const done = { ...changedMembers(scope, own.id, taken), before: stateOf(own), after: null };
    return { ...done, result: { slug: scope.slug } };
  },
});

/** Both roles change at once, so that the workspace has an owner at every moment. */
export const transferOwnership = change({
  name: 'member.transfer',
  summary: 'Transfers ownership: another member becomes an owner, and you become an admin.',
  reach: 'self',
  permission: 'owners:write',
  fields: { workspace: itsSlug, member: memberName },
  output: shownMember,
  run: async ({ store, actor }, { workspace, member }) => {
    const { reached, scope, own } = await ownMembership(store, actor, workspace);
    // For an operator who is a member, the role as a member counts.
    checkPermission({ ...reached, role: own.role }, { permission: 'owners:write', kind: 'change' });
    checkVerified(actor, { reach: 'workspace', kind: 'change' });
    const heir = await findMember(store, scope, member);
    if (heir.id === own.id) throw badInput('member', 'this is you; name the member who takes over');
    const give = (userId: string, role: string) =>
      store.prisma.member.update({
        where: { workspaceId_userId: { workspaceId: scope.workspaceId, userId } },
        data: { role },
      });
    await give(heir.id, 'owner');
    await give(own.id, 'admin');
    const taken = await takeBack(store, scope, own.id, 'admin');
    const result = { ...heir, role: 'owner' as const };
    const { detail, ...done } = changedMembers(scope, heir.id, taken);
    return {
      ...done,
      result,
      before: stateOf(heir),
      after: stateOf(result),
      detail: { ...detail, from: own.email },
    };
  },
});
