import { z } from 'zod';
import { create } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { words } from '#lib/control/operations/field/kinds';
import { email, password } from '#lib/control/operations/field/people';
import { conflict } from '#lib/control/operations/refusal';
import { openAccount, refuseWhenClosed } from '#lib/control/operations/user/open-account';
import { hashPassword, refuseCommonPassword } from '#lib/control/operations/user/password';

/** As a form asks for a new one. */
export const newPassword = password({
  label: 'Password',
  help: 'At least 10 characters; three random words do.',
  example: 'three random words',
});

/** What somebody types in to get an account with a password. */
export const newAccount = {
  email: email({ label: 'E-mail', help: 'With which you sign in.', example: 'ann@example.com' }),
  password: newPassword,
  timeZone: optional(
    words({ label: 'Time zone', help: 'As the browser says.', example: 'Europe/Berlin' }, 64),
  ),
};

/** An address that has an account is refused in words: signing up cannot hide it (contract: control-plane/sign-up). */
export const signUp = create({
  name: 'user.sign-up',
  summary:
    'Makes a user with a password and a workspace that is theirs; the address is to be verified by mail.',
  reach: 'self',
  permission: null,
  fields: newAccount,
  output: z.object({ id: z.uuid(), slug: z.string() }),
  http: [],
  line: null,
  run: async (context, { email, password, timeZone }) => {
    refuseWhenClosed(context);
    await refuseCommonPassword(password, 'password');
    // Before the address is looked up, so that both outcomes take as long.
    const passwordHash = await hashPassword(password);
    const opened = await openAccount(context, {
      email,
      passwordHash,
      timeZone,
      name: null,
      verified: false,
    });
    if (opened === null) {
      throw conflict('this address has an account already; sign in, or ask for a new password', 'email');
    }
    const { id, workspaceId, slug, changes } = opened;
    const after = { email, workspace: slug };
    return { result: { id, slug }, subject: id, workspaceId, before: null, after, changes };
  },
});

export const signUpOperations = [signUp];
