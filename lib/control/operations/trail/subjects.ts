import { isUuid } from '#lib/control/operations/field/kinds';
import { inScope, type Scope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';

/**
 * What the subjects of audit rows are called: keys, webhooks, invitations and saved views of the scope, and people. A
 * row has only what a change made different, so most rows do not say it themselves.
 * @returns by id; without what was deleted.
 * @throws Error of the database.
 */
export async function namesOfSubjects(
  { prisma }: Store,
  scope: Scope,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(subjects.filter(isUuid))];
  const where = { ...inScope(scope), id: { in: ids } };
  const [keys, managementKeys, views, webhooks, invitations, users] = await Promise.all([
    prisma.apiKey.findMany({ where, select: { id: true, name: true } }),
    prisma.managementKey.findMany({ where, select: { id: true, name: true } }),
    prisma.savedView.findMany({ where, select: { id: true, name: true } }),
    prisma.webhook.findMany({ where, select: { id: true, url: true } }),
    prisma.invitation.findMany({ where, select: { id: true, email: true } }),
    // They stand in an audit log of the scope as those whose membership was changed.
    prisma.user.findMany({ where: { id: { in: ids } }, select: { id: true, email: true } }),
  ]);
  return new Map([
    ...[...keys, ...managementKeys, ...views].map(({ id, name }): [string, string] => [id, name]),
    ...webhooks.map(({ id, url }): [string, string] => [id, url]),
    ...[...invitations, ...users].map(({ id, email }): [string, string] => [id, email]),
  ]);
}
