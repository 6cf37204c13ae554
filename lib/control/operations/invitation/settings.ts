import { z } from 'zod';
import { id } from '#lib/control/operations/field/kinds';
import { email } from '#lib/control/operations/field/people';
import { roles } from '#lib/core/role';

export const invitedEmail = email({
  label: 'E-mail',
  help: 'Whoever reads mail there may accept, with an account of that address.',
  example: 'ann@example.com',
});

export const invitationId = id({ label: 'Invitation', help: 'Its id.' });

/** How long a link works; sending it again begins anew (contract: control-plane/invitations). */
export const invitationSeconds = 7 * 24 * 3600;

/** How many mails one invitation may ask for, and how many invitations somebody may make in a day. */
export const mostMails = 10;
export const mostInvitationsADay = 100;

export const shownInvitation = z.object({
  id: z.uuid(),
  email: z.string(),
  role: z.enum(roles),
  state: z.enum(['open', 'expired', 'accepted', 'cancelled']),
  invitedBy: z.string().nullable().meta({ description: 'E-mail of the member; null: the operator.' }),
  createdAt: z.iso.datetime(),
  sentAt: z.iso.datetime().meta({ description: 'When its last mail was asked for.' }),
  expiresAt: z.iso.datetime(),
});
export type ShownInvitation = z.output<typeof shownInvitation>;
