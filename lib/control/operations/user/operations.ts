import { z } from 'zod';
import { create } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, name, toggle } from '#lib/control/operations/field/kinds';
import { email, password } from '#lib/control/operations/field/people';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { WorkspaceScope } from '#lib/control/operations/scope';
import { createFirstOperator } from '#lib/control/operations/user/first-operator';
import { linkedOperations } from '#lib/control/operations/user/linked';
import { hashPassword, refuseCommonPassword } from '#lib/control/operations/user/password';
import { profileOperations } from '#lib/control/operations/user/profile';
import { resetOperations } from '#lib/control/operations/user/reset';
import { signUpOperations } from '#lib/control/operations/user/sign-up';
import { verifyOperations } from '#lib/control/operations/user/verify';
import { roles } from '#lib/core/role';
import { newRowId } from '#lib/platform/data/row-id';

export const createUser = create({
  name: 'user.create',
  summary:
    'Creates a user who signs in with a password and, if a workspace is given, makes the user a member of it.',
  reach: 'subject',
  permission: 'gateway:write',
  fields: {
    email: email({ label: 'Email', help: 'Address to sign in with.', example: 'ann@example.com' }),
    password: password({
      label: 'Password',
      help: '10 to 256 characters; common passwords are refused.',
      example: 'three random words',
    }),
    name: optional(name({ label: 'Name', help: 'Shown to others.', example: 'Ann' })),
    role: optional(choice({ label: 'Role', help: 'Role in the workspace. Default: developer.' }, roles)),
    operator: optional(
      toggle({ label: 'Operator', help: 'Makes the user an operator of this gateway.', example: false }),
    ),
  },
  output: z.object({ id: z.uuid(), email: z.string() }),
  line: { workspace: 'optional' },
  text: ({ id, email }) => `user ${email} created (${id})`,
  run: async ({ store, scope, nowMs }, { email, password, role, operator = false, name = null }) => {
    const place = scope instanceof WorkspaceScope ? scope : null;
    if (role !== undefined && place === null) {
      throw badInput('role', 'a role needs a workspace; name the workspace too (--workspace SLUG)');
    }
    await refuseCommonPassword(password, 'password');
    const id = newRowId();
    const passwordHash = await hashPassword(password);
    // The operator vouches for the address.
    const emailVerifiedAt = new Date(nowMs);
    const { count } = await store.prisma.user.createMany({
      data: [{ id, email, name, passwordHash, operator, emailVerifiedAt }],
      skipDuplicates: true,
    });
    if (count === 0) throw conflict(`there is already a user ${email}; sign in instead`, 'email');
    const member = place && { workspaceId: place.workspaceId, userId: id, role: role ?? 'developer' };
    if (member) await store.prisma.member.create({ data: member });
    return {
      result: { id, email },
      subject: id,
      workspaceId: place?.workspaceId ?? null,
      before: null,
      after: { email, name, operator, ...(member ? { role: member.role } : {}) },
    };
  },
});

export const userOperations = [
  createUser,
  createFirstOperator,
  ...signUpOperations,
  ...verifyOperations,
  ...resetOperations,
  ...profileOperations,
  ...linkedOperations,
];
