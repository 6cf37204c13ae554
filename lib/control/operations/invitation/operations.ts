import { z } from 'zod';
import { userOf } from '#lib/control/operations/actor';
import { type Context, change, create, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { line, toggle } from '#lib/control/operations/field/kinds';
import { limitOf, pageOf, paging, sortBy } from '#lib/control/operations/field/paging';
import { acceptOperations } from '#lib/control/operations/invitation/accept';
import {
  findInvitations,
  invitationOrders,
  lockInvitation,
  showInvitation,
  stateAt,
} from '#lib/control/operations/invitation/find';
import { mintInvitationLink } from '#lib/control/operations/invitation/link';
import {
  invitationId,
  invitationSeconds,
  invitedEmail,
  mostInvitationsADay,
  mostMails,
  shownInvitation,
} from '#lib/control/operations/invitation/settings';
import { refuseOwners } from '#lib/control/operations/member/change';
import { memberRole } from '#lib/control/operations/member/settings';
import { conflict } from '#lib/control/operations/refusal';
import { sqlIn } from '#lib/control/operations/user/open-account';
import { queueMail } from '#lib/control/outbox/queue-mail';
import { roleOf } from '#lib/core/role';
import { newRowId } from '#lib/platform/data/row-id';

const invitations = '/workspaces/{workspace}/invitations';

export const createInvitation = create({
  name: 'invitation.create',
  summary:
    'Invites someone by mail to become a member; the link works once, for 7 days, for that address only.',
  reach: 'workspace',
  permission: 'members:write',
  exclusive: true,
  fields: { email: invitedEmail, role: memberRole },
  output: shownInvitation,
  http: [{ method: 'POST', path: invitations }],
  line: {},
  text: ({ id, email, role }) => `${email} is invited as ${role} (${id})`,
  run: async (context, { email, role }) => {
    const { store, scope, nowMs, actor } = context;
    refuseOwners(context, role);
    const { workspaceId } = scope;
    const where = { workspaceId, user: { email } };
    if ((await store.prisma.member.count({ where })) > 0)
      throw conflict(`${email} is already a member; change the role instead`, 'email');
    await refuseFloods(context);
    // An expired one makes room for the next.
    await store.execute(
      `UPDATE invitation SET cancelled_at = now() WHERE workspace_id = $1::uuid AND email = $2
         AND accepted_at IS NULL AND cancelled_at IS NULL AND expires_at <= now()`,
      [workspaceId, email],
    );
    const id = newRowId();
    const expiresAt = new Date(nowMs + invitationSeconds * 1000);
    const { count } = await store.prisma.invitation.createMany({
      data: [{ id, workspaceId, email, role, invitedBy: userOf(actor), expiresAt }],
      skipDuplicates: true,
    });
    if (count === 0)
      throw conflict(`${email} is already invited; send the invitation again, or cancel it first`, 'email');
    await queueInvitation(context, id, email);
    const result = showInvitation(await lockInvitation(store, scope, id), nowMs);
    return { result, subject: id, before: null, after: { email, role } };
  },
});

export const resendInvitation = change({
  name: 'invitation.resend',
  summary:
    'Sends the mail again with a new link, which works for 7 days from now; earlier links stop working.',
  reach: 'workspace',
  permission: 'members:write',
  exclusive: true,
  fields: { id: invitationId },
  output: shownInvitation,
  http: [{ method: 'POST', path: `${invitations}/{id}/resend` }],
  line: { arguments: ['id'] },
  text: ({ email }) => `the invitation is sent to ${email} again`,
  run: async (context, { id }) => {
    const { store, scope, nowMs } = context;
    const row = await lockOpen(context, id);
    if (row.mails >= mostMails) {
      throw conflict(
        `its mail was already sent ${mostMails} times; check the address, cancel the invitation and create a new one`,
      );
    }
    await renewLinks(context, id, () => queueInvitation(context, id, row.email));
    await store.prisma.invitation.update({
      where: { id },
      data: { sentAt: new Date(nowMs), mails: { increment: 1 } },
    });
    const result = showInvitation(await lockInvitation(store, scope, id), nowMs);
    const before = { email: row.email, mails: row.mails };
    return { result, subject: id, before, after: { ...before, mails: row.mails + 1 } };
  },
});

export const linkInvitation = change({
  name: 'invitation.link',
  summary:
    'Makes a link to pass on yourself, which works for 7 days from now; earlier links stop working. It does not verify the address.',
  reach: 'workspace',
  permission: 'members:write',
  exclusive: true,
  fields: { id: invitationId },
  output: shownInvitation.extend({
    path: z.string().describe('The link, without the address of the console in front. Shown only once.'),
  }),
  http: [{ method: 'POST', path: `${invitations}/{id}/link` }],
  line: { arguments: ['id'] },
  text: ({ email, path }) =>
    `link for ${email}, below the address of this gateway; it is shown only once:\n${path}`,
  run: async (context, { id }) => {
    const { store, scope, nowMs, keyPepper } = context;
    const { email } = await lockOpen(context, id);
    const token = await renewLinks(context, id, () =>
      mintInvitationLink(sqlIn(store), keyPepper, { invitationId: id, kind: 'copy' }),
    );
    const shown = showInvitation(await lockInvitation(store, scope, id), nowMs);
    const result = { ...shown, path: `/invite?token=${token}` };
    return { result, subject: id, before: { email }, after: { email, link: 'copied' } };
  },
});

export const cancelInvitation = change({
  name: 'invitation.cancel',
  summary: 'Cancels an invitation; its links stop working at once.',
  reach: 'workspace',
  permission: 'members:write',
  exclusive: true,
  fields: { id: invitationId },
  output: shownInvitation,
  http: [{ method: 'DELETE', path: `${invitations}/{id}` }],
  line: { arguments: ['id'] },
  text: ({ email }) => `the invitation of ${email} is canceled`,
  run: async (context, { id }) => {
    const { store, scope, nowMs } = context;
    const { email, role } = await lockOpen(context, id);
    await store.prisma.invitation.update({ where: { id }, data: { cancelledAt: new Date(nowMs) } });
    const result = showInvitation(await lockInvitation(store, scope, id), nowMs);
    return { result, subject: id, before: { email, role }, after: null };
  },
});

export const listInvitations = read({
  name: 'invitation.list',
  summary: 'Lists open invitations, or all invitations; by default newest first.',
  reach: 'workspace',
  permission: 'members:read',
  fields: {
    all: optional(
      toggle({ label: 'All', help: 'Includes accepted and canceled invitations.', example: true }),
    ),
    search: optional(line({ label: 'Search', help: 'Part of the email address.' }, 200)),
    sort: sortBy(invitationOrders, '-created'),
    ...paging,
  },
  output: pageOf(shownInvitation),
  http: [{ method: 'GET', path: invitations }],
  line: { columns: ['id', 'email', 'role', 'state', 'expiresAt'] },
  run: async ({ store, scope, nowMs }, input) => {
    const { all = false, search, sort = '-created', after } = input;
    const page = { all, search, sort, after, limit: limitOf(input) };
    const { rows, next } = await findInvitations(store, scope, page);
    return { data: rows.map((row) => showInvitation(row, nowMs)), next };
  },
});

export const invitationOperations = [
  createInvitation,
  resendInvitation,
  linkInvitation,
  cancelInvitation,
  listInvitations,
  ...acceptOperations,
];

/** @throws ControlRefused (conflict) if it is no longer open; permission_denied if it makes an owner. */
async function lockOpen(context: Context<'workspace'>, id: string) {
  const row = await lockInvitation(context.store, context.scope, id);
  refuseOwners(context, roleOf(row.role) ?? 'viewer');
  const state = stateAt(row, context.nowMs);
  if (state === 'accepted' || state === 'cancelled')
    throw conflict(`this invitation is no longer open; create a new one for ${row.email}`, 'id');
  return row;
}

/** Ends the earlier links of an invitation and starts its seven days again. @param make the new link. */
async function renewLinks<Made>(
  { store, nowMs }: Context,
  invitationId: string,
  make: () => Promise<Made>,
): Promise<Made> {
  await store.prisma.invitationLink.deleteMany({ where: { invitationId } });
  const expiresAt = new Date(nowMs + invitationSeconds * 1000);
  await store.prisma.invitation.update({ where: { id: invitationId }, data: { expiresAt } });
  return make();
}

/** Limits mails to addresses that never asked for any. @throws ControlRefused (conflict). */
async function refuseFloods({ store, scope, actor }: Context<'workspace'>): Promise<void> {
  const [made] = await store.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM invitation WHERE created_at > now() - interval '1 day'
       AND (workspace_id = $1::uuid OR invited_by = $2::uuid)`,
    [scope.workspaceId, userOf(actor)],
  );
  if ((made?.count ?? 0) < mostInvitationsADay) return;
  throw conflict(`${mostInvitationsADay} invitations were created in the last 24 hours; try again tomorrow`);
}

async function queueInvitation({ store }: Context, id: string, recipient: string): Promise<void> {
  const mail = { kind: 'invitation', recipient, facts: { invitation: id } } as const;
  await queueMail(sqlIn(store), { ...mail, lifeSeconds: invitationSeconds });
}
