import { z } from 'zod';
import { change, create } from '#lib/control/operations/declare';
import { email } from '#lib/control/operations/field/people';
import { closePlaygrounds } from '#lib/control/operations/playground/close';
import type { Store } from '#lib/control/operations/store';
import { giveCredit, sqlIn } from '#lib/control/operations/user/open-account';
import { hashPassword, refuseCommonPassword } from '#lib/control/operations/user/password';
import { newPassword } from '#lib/control/operations/user/sign-up';
import { claimToken, dropTokens, tokenSeconds } from '#lib/control/operations/user/token';
import { linkToken, markVerified } from '#lib/control/operations/user/verify';
import { queueMail } from '#lib/control/outbox/queue-mail';
import type { Change } from '#lib/platform/data/change';

/** Looks up no user: whether the address has an account is checked when the mail is sent (contract: control-plane/reset). */
export const requestReset = create({
  name: 'user.request-reset',
  summary: 'Sends a link for a new password to an address, if it has an account.',
  reach: 'self',
  permission: null,
  fields: {
    email: email({ label: 'Email', help: 'Address that you sign in with.', example: 'ann@example.com' }),
  },
  output: z.object({}),
  run: async ({ store }, { email }) => {
    const lifeSeconds = tokenSeconds.reset;
    const mail = await queueMail(sqlIn(store), { kind: 'reset', recipient: email, lifeSeconds });
    return {
      result: {},
      subject: mail,
      before: null,
      after: { mail: 'reset' },
    };
  },
});

export const resetPassword = change({
  name: 'user.reset',
  summary: 'Sets a new password by the link in a mail, ends all sessions and verifies the address.',
  reach: 'self',
  permission: null,
  fields: { token: linkToken, password: newPassword },
  output: z.object({
    email: z.string(),
    disabledKeys: z
      .int()
      .describe(
        'Number of API keys that were created before the address was verified, and are now disabled.',
      ),
  }),
  run: async (context, { token, password }) => {
    const { store } = context;
    await refuseCommonPassword(password, 'password');
    const id = await claimToken(context, 'reset', token);
    const user = await store.prisma.user.findUniqueOrThrow({ where: { id } });
    const email = await markVerified(store, id);
    const passwordHash = await hashPassword(password);
    await store.prisma.user.update({
      where: { id },
      data: { passwordHash, sessionVersion: { increment: 1 } },
    });
    const playgrounds = await closePlaygrounds(store, { userId: id });
    await store.prisma.session.deleteMany({ where: { userId: id } });
    await dropTokens(sqlIn(store), id, null);
    const first = user.emailVerifiedAt === null;
    const keys = first ? await closeUnproven(store, id) : [];
    const { credit, changes } = await giveCredit(context, id);
    return {
      result: { email, disabledKeys: keys.length },
      subject: id,
      before: { verified: !first, sessionVersion: user.sessionVersion },
      after: {
        verified: true,
        sessionVersion: user.sessionVersion + 1,
        ...(credit === null ? {} : { credit }),
      },
      ...(keys.length > 0 ? { detail: { disabledKeys: keys.length } } : {}),
      changes: [...changes, ...keys, ...playgrounds],
    };
  },
});

/**
 * Another person may have created the account with an address that is not theirs: whatever could act for it before
 * the address was verified is disabled. API keys can be enabled again.
 */
async function closeUnproven({ prisma, query }: Store, userId: string): Promise<Change[]> {
  await prisma.managementKey.updateMany({
    where: { createdBy: userId, revokedAt: null },
    data: { revokedAt: new Date() },
  });
  await prisma.linkedAccount.deleteMany({ where: { userId } });
  const rows = await query<{ id: string }>(
    `UPDATE api_key SET status = 'inactive' WHERE created_by = $1::uuid AND status = 'active' RETURNING id::text`,
    [userId],
  );
  return rows.map(({ id }) => ({ kind: 'key', subject: id }));
}

export const resetOperations = [requestReset, resetPassword];
