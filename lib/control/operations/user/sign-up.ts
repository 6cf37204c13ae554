import { z } from 'zod';
import { create } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { name, words } from '#lib/control/operations/field/kinds';
import { email, password } from '#lib/control/operations/field/people';
import { conflict } from '#lib/control/operations/refusal';
import { openAccount, refuseWhenClosed } from '#lib/control/operations/user/open-account';
import { hashPassword, refuseCommonPassword } from '#lib/control/operations/user/password';

/** A new password, as on forms. */
export const newPassword = password({
  label: 'Password',
  help: 'At least 10 characters, such as three random words.',
  example: 'three random words',
});

/** What a new user enters to get an account with a password. */
export const newAccount = {
  email: email({ label: 'Email', help: 'Address to sign in with.', example: 'ann@example.com' }),
  password: newPassword,
  timeZone: optional(
    words({ label: 'Time zone', help: 'According to the browser.', example: 'Europe/Berlin' }, 64),
  ),
};

/** An address with an account is refused openly, since signing up cannot hide it (contract: control-plane/sign-up). */
export const signUp = create({
  name: 'user.sign-up',
  summary: 'Creates a user with a password and their own workspace; the address is verified by mail.',
  reach: 'self',
  permission: null,
  fields: {
    name: optional(name({ label: 'Name', help: 'Shown to other members.', example: 'Ann' })),
    ...newAccount,
  },
  output: z.object({ id: z.uuid(), slug: z.string() }),
  run: async (context, { name = null, email, password, timeZone }) => {
    refuseWhenClosed(context);
    await refuseCommonPassword(password, 'password');
    // Before the address is looked up, so that both outcomes take the same time.
    const passwordHash = await hashPassword(password);
    const opened = await openAccount(context, {
      email,
      passwordHash,
      timeZone,
      name,
      verified: false,
    });
    if (opened === null) {
      throw conflict('this address already has an account; sign in, or reset the password', 'email');
    }
    const { id, workspaceId, slug, changes } = opened;
    const after = { email, workspace: slug };
    return { result: { id, slug }, subject: id, workspaceId, before: null, after, changes };
  },
});

export const signUpOperations = [signUp];
