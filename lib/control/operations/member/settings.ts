import { z } from 'zod';
import { choice, id } from '#lib/control/operations/field/kinds';
import { email } from '#lib/control/operations/field/people';
import { roles } from '#lib/core/role';

export const memberEmail = email({
  label: 'Email',
  help: 'Of a user who has signed up.',
  example: 'ann@example.com',
});

/** Names a member by either; both are unique. */
export const memberName = id({
  label: 'Member',
  help: 'Email address or id.',
  flag: 'email',
  placeholder: 'E',
});

export const memberRole = choice(
  { label: 'Role', help: 'Permissions in the workspace.', example: 'developer' },
  roles,
);

export const shownMember = z.object({
  id: z.uuid().describe('Id of the user.'),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(roles),
  since: z.iso.datetime().describe('Member since.'),
});
export type ShownMember = z.output<typeof shownMember>;
