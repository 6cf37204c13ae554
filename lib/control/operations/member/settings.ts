import { z } from 'zod';
import { choice, id } from '#lib/control/operations/field/kinds';
import { email } from '#lib/control/operations/field/people';
import { roles } from '#lib/core/role';

export const memberEmail = email({
  label: 'E-mail',
  help: 'Of somebody who has signed up.',
  example: 'ann@example.com',
});

/** Which member: both are unique. */
export const memberName = id({
  label: 'Member',
  help: 'Their e-mail address, or their id.',
  flag: 'email',
  placeholder: 'E',
});

export const memberRole = choice(
  { label: 'Role', help: 'What they may do in the workspace.', example: 'developer' },
  roles,
);

export const shownMember = z.object({
  id: z.uuid().meta({ description: 'Of the user.' }),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(roles),
  since: z.iso.datetime().meta({ description: 'When they became a member.' }),
});
export type ShownMember = z.output<typeof shownMember>;
