import { z } from 'zod';
import { type Actor, userOf } from '#lib/control/operations/actor';
import { type Context, change, create, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { name } from '#lib/control/operations/field/kinds';
import { claimInvitation, findByLink, type Linked } from '#lib/control/operations/invitation/link';
import { ControlRefused, conflict } from '#lib/control/operations/refusal';
import { giveCredit, queueVerification } from '#lib/control/operations/user/open-account';
import { hashPassword, refuseCommonPassword } from '#lib/control/operations/user/password';
import { newPassword } from '#lib/control/operations/user/sign-up';
import { linkToken, markVerified } from '#lib/control/operations/user/verify';
import { roles } from '#lib/core/role';
import type { Change } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';

const joined = z.object({
  email: z.string(),
  slug: z.string(),
  workspace: z.string(),
  role: z.enum(roles).describe('The role that they have now; existing members keep theirs.'),
});

/** Users who have the link read mail at the address, and may know whether it has an account. */
export const showInvitationByLink = read({
  name: 'invitation.show',
  summary: 'Shows what the link of an invitation is for, and whether its address has an account.',
  reach: 'self',
  permission: null,
  fields: { token: linkToken },
  output: z.object({
    email: z.string(),
    workspace: z.string(),
    role: z.enum(roles),
    inviter: z.string().nullable(),
    account: z.boolean(),
  }),
  run: async ({ store, keyPepper }, { token }) => {
    const { email, workspace, role, inviter } = await findByLink(store, keyPepper, token);
    const account = (await store.prisma.user.count({ where: { email } })) > 0;
    return { email, workspace, role, inviter, account };
  },
});

export const acceptInvitation = change({
  name: 'invitation.accept',
  summary: 'Makes the signed-in user a member, if the invitation is for their address.',
  reach: 'self',
  permission: null,
  fields: { token: linkToken },
  output: joined,
  run: async (context, { token }) => {
    const { store, keyPepper, actor } = context;
    const invitation = await claimInvitation(store, keyPepper, token);
    const userId = await userInvited(context, actor, invitation);
    if (!invitation.provesAddress) return join(context, invitation, userId, []);
    // The link came by mail, so it proves as much as a verification link.
    await markVerified(store, userId);
    const { changes } = await giveCredit(context, userId);
    return join(context, invitation, userId, changes);
  },
});

export const joinByInvitation = create({
  name: 'invitation.join',
  summary:
    'Creates an account for the invited address, verified if the link came by mail, and makes it a member.',
  reach: 'self',
  permission: null,
  fields: {
    token: linkToken,
    name: optional(name({ label: 'Name', help: 'Shown to others.', example: 'Ann' })),
    password: newPassword,
  },
  output: joined,
  run: async (context, { token, name = null, password }) => {
    const { store, keyPepper, nowMs } = context;
    await refuseCommonPassword(password, 'password');
    // Before the locks: it takes a while.
    const passwordHash = await hashPassword(password);
    const invitation = await claimInvitation(store, keyPepper, token);
    const { email, provesAddress } = invitation;
    const id = newRowId();
    const emailVerifiedAt = provesAddress ? new Date(nowMs) : null;
    const { count } = await store.prisma.user.createMany({
      data: [{ id, email, name, passwordHash, emailVerifiedAt }],
      skipDuplicates: true,
    });
    if (count === 0) throw conflict('this address now has an account; sign in to accept', 'token');
    if (!provesAddress && context.accounts.verification) await queueVerification(store, email);
    return join(context, invitation, id, []);
  },
});

export const acceptOperations = [showInvitationByLink, acceptInvitation, joinByInvitation];

/** @throws ControlRefused permission_denied if the invitation is for another address. */
async function userInvited({ store }: Context, actor: Actor, { email }: Linked): Promise<string> {
  const id = actor.kind === 'user' ? userOf(actor) : null;
  const user = id === null ? null : await store.prisma.user.findUnique({ where: { id } });
  if (user === null)
    throw new ControlRefused('permission_denied', 'sign in first, then accept the invitation');
  if (user.email === email) return user.id;
  const text = `this invitation is for ${email}, but you are signed in as ${user.email}; sign out and open the link again`;
  throw new ControlRefused('permission_denied', text);
}

/** Users who have become members in another way meanwhile keep their role. */
async function join(
  { store }: Context,
  { id, workspaceId, slug, workspace, email, role: given }: Linked,
  userId: string,
  changes: readonly Change[],
) {
  const data = [{ workspaceId, userId, role: given }];
  await store.prisma.member.createMany({ data, skipDuplicates: true });
  const where = { workspaceId_userId: { workspaceId, userId } };
  const { role: stored } = await store.prisma.member.findUniqueOrThrow({ where });
  const role = roles.find((one) => one === stored) ?? given;
  return {
    result: { email, slug, workspace, role },
    subject: userId,
    workspaceId,
    before: null,
    after: { email, role },
    detail: { invitation: id },
    changes: [...changes, { kind: 'workspace' as const, subject: workspaceId }],
  };
}
