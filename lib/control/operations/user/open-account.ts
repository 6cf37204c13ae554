import { grantPromo } from '#lib/control/billing/promo/grant';
import type { Context } from '#lib/control/operations/declare';
import { ControlRefused } from '#lib/control/operations/refusal';
import type { Store } from '#lib/control/operations/store';
import { tokenSeconds } from '#lib/control/operations/user/token';
import { newWorkspaceLimits } from '#lib/control/operations/workspace/settings';
import { insertWorkspace } from '#lib/control/operations/workspace/slug';
import { queueMail } from '#lib/control/outbox/queue-mail';
import { formatUsd } from '#lib/core/money';
import { isTimeZone } from '#lib/core/time-zone';
import type { Change, SqlRunner } from '#lib/platform/data/change';
import { newRowId } from '#lib/platform/data/row-id';

const dayMs = 86_400_000;

interface Newcomer {
  readonly email: string;
  readonly name: string | null;
  /** null: they sign in with another account. */
  readonly passwordHash: string | null;
  /** Somebody whom we trust has shown that the address is theirs. */
  readonly verified: boolean;
  /** As their browser says; one that is not known here becomes UTC. */
  readonly timeZone: string | undefined;
}

interface Opened {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly changes: readonly Change[];
}

/** Statements of this transaction, for those who know no Prisma. */
export function sqlIn(store: Store): SqlRunner {
  return { query: (text, values) => store.execute(text, values) };
}

/** @throws ControlRefused permission_denied where signing up is closed. */
export function refuseWhenClosed({ accounts }: Pick<Context, 'accounts'>): void {
  if (accounts.signUp) return;
  const text = 'signing up is closed on this gateway; ask the people who run it for an account';
  throw new ControlRefused('permission_denied', text);
}

/**
 * A new user with a workspace of their own. The credit for it comes at once where the address needs no verification,
 * or was verified by others, and else with the verification (contract: control-plane/sign-up-credit).
 * @returns null when the address has an account already; then nothing was changed.
 */
export async function openAccount(context: Context, newcomer: Newcomer): Promise<Opened | null> {
  const { store, accounts, nowMs } = context;
  const { email, name, passwordHash, verified, timeZone } = newcomer;
  const id = newRowId();
  const emailVerifiedAt = verified ? new Date(nowMs) : null;
  const { count } = await store.prisma.user.createMany({
    data: [{ id, email, name, passwordHash, emailVerifiedAt }],
    skipDuplicates: true,
  });
  if (count === 0) return null;
  const workspaceId = newRowId();
  const { slug } = await insertWorkspace(store, {
    id: workspaceId,
    name: name ?? workspaceName(email),
    timeZone: timeZone !== undefined && isTimeZone(timeZone) ? timeZone : 'UTC',
    ...newWorkspaceLimits,
  });
  await store.prisma.member.create({ data: { workspaceId, userId: id, role: 'owner' } });
  await store.prisma.user.update({ where: { id }, data: { signUpWorkspaceId: workspaceId } });
  const changes: Change[] = [{ kind: 'workspace', subject: workspaceId }];
  if (verified || !accounts.verification) changes.push(...(await giveCredit(context, id)).changes);
  if (!verified && accounts.verification) await queueVerification(store, email);
  return { id, workspaceId, slug, changes };
}

export async function queueVerification(store: Store, email: string): Promise<string> {
  return queueMail(sqlIn(store), { kind: 'verify', recipient: email, lifeSeconds: tokenSeconds.verify });
}

/** What stands before the at sign, as a name: "ann.lee" → "Ann Lee". */
function workspaceName(email: string): string {
  const words = email.split('@', 1)[0]?.split(/[^\p{L}\p{N}]+/u) ?? [];
  const name = words
    .flatMap((word) => (word ? [word.charAt(0).toUpperCase() + word.slice(1)] : []))
    .join(' ');
  return name.slice(0, 60) || 'Workspace';
}

/**
 * Posts the credit of the workspace that this user signed up with. The ledger takes one line for each user: whoever
 * comes second posts nothing.
 * @returns what was given, in dollars, and what must be published; null and nothing where there is none to give.
 */
export async function giveCredit(
  { store, accounts, nowMs }: Pick<Context, 'store' | 'accounts' | 'nowMs'>,
  userId: string,
): Promise<{ credit: string | null; changes: readonly Change[] }> {
  const none = { credit: null, changes: [] };
  if (accounts.creditNano <= 0n) return none;
  const user = await store.prisma.user.findUnique({
    where: { id: userId },
    select: { signUpWorkspaceId: true },
  });
  if (!user?.signUpWorkspaceId) return none;
  const { creditDays } = accounts;
  const changes = await grantPromo(sqlIn(store), {
    workspaceId: user.signUpWorkspaceId,
    ref: `sign-up ${userId}`,
    amountNano: accounts.creditNano,
    reason: 'Welcome credit',
    expiresAt: creditDays === null ? null : new Date(nowMs + creditDays * dayMs),
  });
  return changes === null ? none : { credit: formatUsd(accounts.creditNano), changes };
}
