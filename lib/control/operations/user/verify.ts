import { z } from 'zod';
import { userOf } from '#lib/control/operations/actor';
import { change, create } from '#lib/control/operations/declare';
import { words } from '#lib/control/operations/field/kinds';
import { email } from '#lib/control/operations/field/people';
import { conflict, notFound } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import { giveCredit, queueVerification, sqlIn } from '#lib/control/operations/user/open-account';
import { claimToken, dropTokens } from '#lib/control/operations/user/token';

/** The secret part of a link. */
export const linkToken = { ...words({ label: 'Link', help: 'As in the mail.' }, 200), secret: true };

export const verifyAddress = change({
  name: 'user.verify',
  summary: 'Verifies an address by the link in a mail, and gives the sign-up credit once.',
  reach: 'self',
  permission: null,
  fields: { token: linkToken },
  output: z.object({ id: z.uuid(), email: z.string(), credit: z.string().nullable() }),
  run: async (context, { token }) => {
    const { store } = context;
    const id = await claimToken(context, 'verify', token);
    const email = await markVerified(store, id);
    const { credit, changes } = await giveCredit(context, id);
    await dropTokens(sqlIn(store), id, 'verify');
    return {
      result: { id, email, credit },
      subject: id,
      changes,
      before: { verified: false },
      after: { verified: true, ...(credit === null ? {} : { credit }) },
    };
  },
});

export const confirmUser = change({
  name: 'user.confirm',
  summary: 'Verifies the address of a user on your word, and gives the sign-up credit once.',
  reach: 'gateway',
  permission: 'gateway:write',
  fields: {
    email: email({ label: 'Email', help: 'The address of the user.', example: 'ann@example.com' }),
  },
  output: z.object({ email: z.string(), credit: z.string().nullable() }),
  line: { arguments: ['email'] },
  text: ({ email: address }) => `${address} is verified`,
  run: async (context, { email: address }) => {
    const { store } = context;
    const user = await store.prisma.user.findUnique({ where: { email: address } });
    if (user === null) throw notFound(`there is no user ${address}`, 'email');
    await markVerified(store, user.id);
    const { credit, changes } = await giveCredit(context, user.id);
    await dropTokens(sqlIn(store), user.id, 'verify');
    return {
      result: { email: address, credit },
      subject: user.id,
      changes,
      before: { verified: user.emailVerifiedAt !== null },
      after: { verified: true, ...(credit === null ? {} : { credit }) },
    };
  },
});

/** Locks the user's row until the transaction ends: verifications of one address run one after another. */
export async function markVerified(store: Store, id: string): Promise<string> {
  const [user] = await store.query<{ email: string }>(
    `UPDATE "user" SET email_verified_at = coalesce(email_verified_at, now()) WHERE id = $1::uuid RETURNING email`,
    [id],
  );
  if (user === undefined) throw notFound('this account no longer exists; sign up again', 'token');
  return user.email;
}

export const requestVerification = create({
  name: 'user.request-verification',
  summary: 'Sends the signed-in user another link to verify their address.',
  reach: 'self',
  permission: null,
  output: z.object({ email: z.string() }),
  run: async ({ store, actor }) => {
    const id = userOf(actor);
    const user = id === null ? null : await store.prisma.user.findUnique({ where: { id } });
    if (user === null) throw notFound('sign in first');
    if (user.emailVerifiedAt !== null) throw conflict('your address is already verified; reload the page');
    const mail = await queueVerification(store, user.email);
    return {
      result: { email: user.email },
      subject: user.id,
      before: null,
      after: { mail },
    };
  },
});

export const verifyOperations = [verifyAddress, confirmUser, requestVerification];
