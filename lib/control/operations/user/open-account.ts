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
  /** null: they sign in with an account at a provider. */
  readonly passwordHash: string | null;
  /** Whether the address was already verified by a party that we trust. */
  readonly verified: boolean;
  /** According to their browser; UTC if it is unknown here. */
  readonly timeZone: string | undefined;
}

interface Opened {
  readonly id: string;
  readonly workspaceId: string;
  readonly slug: string;
  readonly changes: readonly Change[];
}

/** Statements of this transaction, for code that does not use Prisma. */
export function sqlIn(store: Store): SqlRunner {
  return { query: (text, values) => store.execute(text, values) };
}

/** @throws ControlRefused permission_denied if signing up is closed. */
export function refuseWhenClosed({ accounts }: Pick<Context, 'accounts'>): void {
  if (accounts.signUp) return;
  const text = 'signing up is closed on this gateway; ask its operator for an account';
  throw new ControlRefused('permission_denied', text);
}

/**
 * Creates a user with their own workspace. It gets its credit at once if the address needs no verification
 * or is already verified, otherwise when it is verified (contract: control-plane/sign-up-credit).
 * @returns null if the address already has an account; then nothing is changed.
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

/** The part before the at sign as a name: "ann.lee" → "Ann Lee". */
function workspaceName(email: string): string {
  const words = email.split('@', 1)[0]?.split(/[^\p{L}\p{N}]+/u) ?? [];
  const name = words
    .flatMap((word) => (word ? [word.charAt(0).toUpperCase() + word.slice(1)] : []))
    .join(' ');
  return name.slice(0, 60) || 'Workspace';
}

/**
 * Posts the credit of the workspace that this user signed up with. The ledger accepts one line for each user; a second
 * attempt posts nothing.
 * @returns the credit in dollars and the changes to publish; null and none if there is nothing to give.
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
