import { z } from 'zod';
import { userOf } from '#lib/control/operations/actor';
import { type Context, change, read } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { line } from '#lib/control/operations/field/kinds';
import { password } from '#lib/control/operations/field/people';
import { closePlaygrounds } from '#lib/control/operations/playground/close';
import { badInput, notFound } from '#lib/control/operations/refusal';
import { checkPassword, hashPassword, refuseCommonPassword } from '#lib/control/operations/user/password';
import { newPassword } from '#lib/control/operations/user/sign-up';

/** The caller's row, locked: changes of an account run one after another. */
async function ownRow({ store, actor }: Context) {
  const id = userOf(actor);
  if (id !== null)
    await store.query('SELECT 1 AS one FROM "user" WHERE id = $1::uuid FOR NO KEY UPDATE', [id]);
  const user = id === null ? null : await store.prisma.user.findUnique({ where: { id } });
  if (user === null) throw notFound('sign in first');
  return user;
}

export const showAccount = read({
  name: 'user.me',
  summary: 'Shows the signed-in user: name, address and ways to sign in.',
  reach: 'self',
  permission: null,
  output: z.object({
    id: z.uuid(),
    email: z.string(),
    name: z.string().nullable(),
    verified: z.boolean(),
    hasPassword: z.boolean(),
    linked: z.array(
      z.object({ provider: z.string(), email: z.string().nullable(), since: z.iso.datetime() }),
    ),
    createdAt: z.iso.datetime(),
  }),
  run: async ({ store, actor }) => {
    const id = userOf(actor);
    const where = { id: id ?? '' };
    const linkedAccounts = { orderBy: { provider: 'asc' } } as const;
    const user =
      id === null ? null : await store.prisma.user.findUnique({ where, include: { linkedAccounts } });
    if (user === null) throw notFound('sign in first');
    return {
      id: user.id,
      email: user.email,
      name: user.name,
      verified: user.emailVerifiedAt !== null,
      hasPassword: user.passwordHash !== null,
      linked: user.linkedAccounts.map(({ provider, email, createdAt }) => ({
        provider,
        email,
        since: createdAt.toISOString(),
      })),
      createdAt: user.createdAt.toISOString(),
    };
  },
});

export const renameUser = change({
  name: 'user.rename',
  summary: 'Updates your display name.',
  reach: 'self',
  permission: null,
  fields: {
    name: line({ label: 'Name', help: 'Shown to others.', example: 'Ann', empty: 'Your address' }, 100),
  },
  output: z.object({ name: z.string().nullable() }),
  run: async (context, { name }) => {
    const user = await ownRow(context);
    await context.store.prisma.user.update({ where: { id: user.id }, data: { name } });
    const before = { name: user.name };
    return { result: { name }, subject: user.id, before, after: { name } };
  },
});

/** Ends the other sessions; the current one continues (contract: control-plane/sessions). */
export const changePassword = change({
  name: 'user.change-password',
  summary: 'Changes your password and ends your other sessions.',
  reach: 'self',
  permission: null,
  fields: {
    current: optional(currentPassword()),
    password: { ...newPassword, label: 'New password' },
  },
  output: z.object({ ended: z.int() }),
  run: async (context, { current = '', password: wanted }) => {
    const { store, actor } = context;
    const user = await ownRow(context);
    if (user.passwordHash !== null && !(await checkPassword(user.passwordHash, current))) {
      throw badInput('current', 'this is not your current password; try again, or reset it by mail');
    }
    await refuseCommonPassword(wanted, 'password');
    const passwordHash = await hashPassword(wanted);
    const version = user.sessionVersion + 1;
    await store.prisma.user.update({
      where: { id: user.id },
      data: { passwordHash, sessionVersion: version },
    });
    const own = actor.kind === 'user' ? (actor.sessionId ?? null) : null;
    const { session } = store.prisma;
    const others = { userId: user.id, ...(own === null ? {} : { id: { not: own } }) };
    const changes = await closePlaygrounds(store, { userId: user.id });
    const { count: ended } = await session.deleteMany({ where: others });
    if (own !== null) await session.updateMany({ where: { id: own, userId: user.id }, data: { version } });
    return {
      result: { ended },
      subject: user.id,
      changes,
      before: { sessionVersion: user.sessionVersion },
      after: { sessionVersion: version },
      detail: { endedSessions: ended },
    };
  },
});

/** As it was set, perhaps under older rules; `run` compares it. */
function currentPassword() {
  const facts = { label: 'Current password', help: '' };
  return { ...password(facts), schema: z.string('must be a string').max(1024, 'too long') };
}

export const profileOperations = [showAccount, renameUser, changePassword];
