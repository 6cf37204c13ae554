import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { create } from '#lib/control/operations/declare';
import { words } from '#lib/control/operations/field/kinds';
import { badInput, conflict } from '#lib/control/operations/refusal';
import { type Store, transact } from '#lib/control/operations/store';
import { openAccount } from '#lib/control/operations/user/open-account';
import { hashPassword, refuseCommonPassword } from '#lib/control/operations/user/password';
import { newAccount } from '#lib/control/operations/user/sign-up';
import type { Db } from '#lib/platform/data/db';
import { newRowId } from '#lib/platform/data/row-id';
import { hashKey } from '#lib/platform/secrets';

/** How long the link works, seconds (contract: operations/first-operator). */
const linkSeconds = 3600;

/** A link that makes the first operator. */
interface OperatorLink {
  /** Names its row. */
  readonly id: string;
  /** The secret part of the address; it is not stored. */
  readonly token: string;
}

/** Whether this gateway has an operator. */
async function hasOperator({ prisma }: Pick<Store, 'prisma'>): Promise<boolean> {
  return (await prisma.user.findFirst({ where: { operator: true }, select: { id: true } })) !== null;
}

/**
 * Makes a link for the first operator, and ends the one that it replaces (contract: operations/first-operator).
 * @param replaced the row of the link that the start before made; null: there was none.
 * @returns null while there is an operator.
 */
export async function renewOperatorLink(
  db: Db,
  keyPepper: string,
  replaced: string | null,
): Promise<OperatorLink | null> {
  return transact(db, async (store) => {
    await alone(store);
    await store.execute('DELETE FROM operator_link WHERE expires_at <= now() OR id::text = $1', [replaced]);
    if (await hasOperator(store)) return null;
    const link = { id: newRowId(), token: randomBytes(32).toString('base64url') };
    await store.execute(
      `INSERT INTO operator_link (id, hash, expires_at)
       VALUES ($1::uuid, $2, now() + make_interval(secs => $3::int))`,
      [link.id, hashKey(link.token, keyPepper), linkSeconds],
    );
    return link;
  });
}

export const createFirstOperator = create({
  name: 'user.first-operator',
  summary:
    'Creates the first operator, with a workspace of their own, from the link that the gateway prints when it starts.',
  reach: 'self',
  permission: null,
  fields: {
    token: { ...words({ label: 'Link', help: 'Printed when the gateway starts.' }, 200), secret: true },
    ...newAccount,
  },
  output: z.object({ id: z.uuid(), slug: z.string() }),
  run: async (context, { token, email, password, timeZone }) => {
    const { store, keyPepper } = context;
    await refuseCommonPassword(password, 'password');
    const passwordHash = await hashPassword(password);
    await alone(store);
    const found = await store.execute('DELETE FROM operator_link WHERE hash = $1 AND expires_at > now()', [
      hashKey(token, keyPepper),
    ]);
    if (await hasOperator(store)) {
      throw badInput('token', 'this gateway already has an operator; sign in, or ask them for an account');
    }
    if (found === 0) {
      throw badInput('token', 'this link is incomplete or has expired; restart the gateway to get a new one');
    }
    const newcomer = { email, name: null, passwordHash, verified: true, timeZone };
    const opened = await openAccount(context, newcomer);
    if (opened === null) throw conflict('this address already has an account; use another one', 'email');
    const { id, workspaceId, slug, changes } = opened;
    await store.prisma.user.update({ where: { id }, data: { operator: true } });
    await store.execute('DELETE FROM operator_link', []);
    const after = { email, workspace: slug, operator: true };
    return { result: { id, slug }, subject: id, workspaceId, before: null, after, changes };
  },
});

/** Serializes links that are used at the same time. */
async function alone(store: Store): Promise<void> {
  await store.execute('LOCK TABLE operator_link IN SHARE ROW EXCLUSIVE MODE', []);
}
