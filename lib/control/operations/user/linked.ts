import { z } from 'zod';
import { userOf } from '#lib/control/operations/actor';
import { change, create } from '#lib/control/operations/declare';
import { optional } from '#lib/control/operations/field/field';
import { choice, line, toggle, words } from '#lib/control/operations/field/kinds';
import { email } from '#lib/control/operations/field/people';
import { badInput, conflict, notFound } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import { openAccount, refuseWhenClosed } from '#lib/control/operations/user/open-account';

/** Providers with whose accounts users may sign in. */
const signInProviders = ['github', 'google'] as const;

const provider = choice({ label: 'Provider', help: '' }, signInProviders);
const account = {
  provider,
  subject: words({ label: 'Account', help: 'Id of the account at the provider.', example: '583231' }, 255),
  email: optional(email({ label: 'Email', help: 'According to the provider.', example: 'ann@example.com' })),
};

/** The user of an account at a provider. */
async function findLinked({ prisma }: Store, at: { provider: string; subject: string }) {
  const { provider, subject } = at;
  const where = { provider_subject: { provider, subject } };
  const found = await prisma.linkedAccount.findUnique({ where, include: { user: true } });
  return found?.user ?? null;
}

/**
 * Two accounts are treated as one person's only if the address is verified in both: here by its user, there by the provider
 * (contract: control-plane/other-accounts).
 */
export const enterByProvider = create({
  name: 'user.enter',
  summary: 'Signs in with an account at a provider; creates a user and a workspace for a new account.',
  reach: 'self',
  permission: null,
  fields: {
    ...account,
    emailVerified: toggle({
      label: 'Verified',
      help: 'Whether the provider verified the address.',
      example: true,
    }),
    name: optional(line({ label: 'Name', help: 'According to the provider.' }, 100)),
    timeZone: optional(words({ label: 'Time zone', help: 'According to the browser.' }, 64)),
  },
  output: z.object({ id: z.uuid(), email: z.string(), sessionVersion: z.int() }),
  run: async (context, { provider, subject, email, emailVerified, name = null, timeZone }) => {
    const { store } = context;
    const shown = { provider, subject };
    const known = await findLinked(store, shown);
    if (known) {
      const { id, email, sessionVersion } = known;
      const result = { id, email, sessionVersion };
      return { result, subject: id, before: shown, after: shown };
    }
    if (email === undefined || !emailVerified) {
      throw badInput(
        'email',
        'your address is not verified at the provider; verify it there, then try again',
      );
    }
    const owner = await store.prisma.user.findUnique({ where: { email } });
    if (owner !== null && owner.emailVerifiedAt === null) {
      throw conflict(
        'this address has an account here that is not verified yet; sign in to it and verify the address',
        'email',
      );
    }
    if (owner === null) refuseWhenClosed(context);
    const opened =
      owner === null
        ? await openAccount(context, { email, name, passwordHash: null, verified: true, timeZone })
        : null;
    const id = owner?.id ?? opened?.id;
    // Someone has just signed up with this address.
    if (id === undefined)
      throw conflict('an account with this address was just created here; try again', 'email');
    await store.prisma.linkedAccount.create({ data: { provider, subject, userId: id, email } });
    return {
      result: { id, email, sessionVersion: owner?.sessionVersion ?? 1 },
      subject: id,
      workspaceId: opened?.workspaceId ?? null,
      before: null,
      after: { provider, subject, email, ...(opened ? { workspace: opened.slug } : {}) },
      changes: opened?.changes ?? [],
    };
  },
});

export const linkAccount = change({
  name: 'user.link',
  summary: 'Connects an account at a provider to the signed-in user.',
  reach: 'self',
  permission: null,
  fields: account,
  output: z.object({ id: z.uuid(), sessionVersion: z.int() }),
  run: async ({ store, actor }, { provider, subject, email = null }) => {
    const userId = userOf(actor);
    if (userId === null) throw notFound('sign in first');
    const data = [{ provider, subject, userId, email }];
    const { count } = await store.prisma.linkedAccount.createMany({ data, skipDuplicates: true });
    const owner = await findLinked(store, { provider, subject });
    if (owner?.id !== userId) {
      throw conflict('this account is connected to another user here; sign in with it instead', 'subject');
    }
    const after = { provider, subject };
    const before = count === 0 ? after : {};
    const result = { id: userId, sessionVersion: owner.sessionVersion };
    return { result, subject: userId, before, after };
  },
});

export const unlinkAccount = change({
  name: 'user.unlink',
  summary: 'Disconnects the accounts at a provider; users without a password must keep one way to sign in.',
  reach: 'self',
  permission: null,
  fields: { provider },
  output: z.object({ provider: z.string() }),
  run: async ({ store, actor }, { provider }) => {
    const userId = userOf(actor);
    if (userId === null) throw notFound('sign in first');
    await store.query('SELECT 1 AS one FROM "user" WHERE id = $1::uuid FOR NO KEY UPDATE', [userId]);
    const user = await store.prisma.user.findUniqueOrThrow({
      where: { id: userId },
      include: { linkedAccounts: true },
    });
    const left = user.linkedAccounts.filter((one) => one.provider !== provider);
    if (user.passwordHash === null && left.length === 0) {
      throw conflict('set a password first; this account is your only way to sign in', 'provider');
    }
    await store.prisma.linkedAccount.deleteMany({ where: { userId, provider } });
    return {
      result: { provider },
      subject: userId,
      before: { linked: user.linkedAccounts.map((one) => one.provider).sort() },
      after: { linked: left.map((one) => one.provider).sort() },
    };
  },
});

export const linkedOperations = [enterByProvider, linkAccount, unlinkAccount];
