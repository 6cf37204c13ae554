import { z } from 'zod';
import { id } from '#lib/control/operations/field/kinds';
import { email } from '#lib/control/operations/field/people';
import { roles } from '#lib/core/role';

export const invitedEmail = email({
  label: 'Email',
  help: 'The invitation can be accepted only with an account of this address.',
  example: 'ann@example.com',
});

export const invitationId = id({ label: 'Invitation', help: 'Its id.' });

/** How long a link works; sending it again starts over (contract: control-plane/invitations). */
export const invitationSeconds = 7 * 24 * 3600;

/** Maximum of mails for one invitation, and of invitations in a day. */
export const mostMails = 10;
export const mostInvitationsADay = 100;

export const shownInvitation = z.object({
  id: z.uuid(),
  email: z.string(),
  role: z.enum(roles),
  state: z.enum(['open', 'expired', 'accepted', 'cancelled']),
  invitedBy: z.string().nullable().describe('Email of the member who invited; null: the operator.'),
  createdAt: z.iso.datetime(),
  sentAt: z.iso.datetime().describe('When the last mail was requested.'),
  expiresAt: z.iso.datetime(),
});
export type ShownInvitation = z.output<typeof shownInvitation>;
