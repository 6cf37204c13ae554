import { z } from 'zod';
import { change, read } from '#lib/control/operations/declare';
import { words } from '#lib/control/operations/field/kinds';
import { madeByPeople } from '#lib/control/operations/key/find';
import { badInput, conflict, notFound } from '#lib/control/operations/refusal';
import { inScope, type WorkspaceScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { heldNano } from '#lib/control/operations/workspace/find';
import { formatUsd } from '#lib/core/money';

const losses = z.object({
  slug: z.string(),
  balance: z.string().describe('Balance that can no longer be spent, dollars as a decimal string.'),
  held: z.string().describe('Held by running calls and jobs, which are charged when they end.'),
  apiKeys: z.int().describe('Number of API keys that are revoked.'),
  managementKeys: z.int().describe('Number of management keys that are revoked.'),
  members: z.int().describe('Number of members who lose access.'),
  invitations: z.int().describe('Number of open invitations, which are canceled.'),
  runningJobs: z
    .int()
    .describe('Number of running jobs, which must end before the workspace can be deleted.'),
});

/** What prevents the deletion of a workspace, and what would be lost. */
export const showDeletion = read({
  name: 'workspace.deletion',
  summary: 'Shows what would be lost if the workspace were deleted, and the jobs that must end first.',
  reach: 'workspace',
  permission: 'workspace:delete',
  output: losses,
  http: [{ method: 'GET', path: '/workspaces/{workspace}/deletion' }],
  line: { arguments: ['workspace'] },
  run: ({ store, scope }) => countLosses(store, scope),
});

/**
 * The row stays: running calls are charged to it when they end, and its ledger is append-only. For everyone but
 * operators it is gone at once (contract: control-plane/deleted-workspace).
 */
export const deleteWorkspace = change({
  name: 'workspace.delete',
  summary:
    'Deletes a workspace for good: keys stop, members lose access, and the balance cannot be spent any more.',
  reach: 'workspace',
  permission: 'workspace:delete',
  exclusive: true,
  fields: {
    confirm: words(
      { label: 'Slug', help: 'Slug of the workspace again, to confirm.', example: 'acme-labs' },
      100,
    ),
  },
  output: losses,
  http: [{ method: 'DELETE', path: '/workspaces/{workspace}' }],
  line: { arguments: ['workspace'] },
  text: ({ slug }) => `workspace ${slug} is deleted`,
  run: async ({ store, scope, nowMs }, { confirm }) => {
    const { workspaceId, slug, demo } = scope;
    if (demo) throw conflict('an operator can delete demo data with "gateway demo remove"');
    if (confirm !== slug) throw badInput('confirm', `enter the slug of the workspace, ${slug}, to delete it`);
    const lost = await countLosses(store, scope);
    if (lost.runningJobs > 0) {
      const jobs = lost.runningJobs === 1 ? 'a job is' : `${lost.runningJobs} jobs are`;
      throw conflict(`${jobs} still running; cancel or wait`);
    }
    const now = new Date(nowMs);
    const { prisma } = store;
    await prisma.workspace.update({
      where: { id: workspaceId },
      data: { deletedAt: now, suspendedAt: now, contentDeletedAt: now },
    });
    await prisma.apiKey.updateMany({
      where: { workspaceId, status: { not: 'revoked' } },
      data: { status: 'revoked' },
    });
    await prisma.keptAnswer.deleteMany({ where: { workspaceId } });
    await prisma.managementKey.updateMany({
      where: { workspaceId, revokedAt: null },
      data: { revokedAt: now },
    });
    await prisma.invitation.updateMany({
      where: { workspaceId, acceptedAt: null, cancelledAt: null },
      data: { cancelledAt: now },
    });
    // Running calls must not charge a card for a deleted workspace.
    await prisma.autoTopUp.updateMany({ where: { workspaceId }, data: { enabled: false } });
    await prisma.member.deleteMany({ where: { workspaceId } });
    return {
      result: lost,
      subject: workspaceId,
      before: lost,
      after: null,
      changes: [{ kind: 'workspace', subject: workspaceId }],
    };
  },
});

async function countLosses(store: Store, scope: WorkspaceScope) {
  const { workspaceId, slug } = scope;
  const { prisma } = store;
  const [row] = await store.query<{ balance: string; held: string; jobs: number }>(
    `SELECT w.balance_nano::text AS balance, (${heldNano})::text AS held,
       (SELECT count(*)::int FROM job j WHERE j.workspace_id = w.id AND j.settled_at IS NULL
         AND j.lost_at IS NULL) AS jobs
     FROM workspace w WHERE w.id = $1::uuid`,
    [workspaceId],
  );
  if (row === undefined) throw notFound('this workspace is gone', 'workspace');
  const where = inScope(scope);
  const open = { ...where, acceptedAt: null, cancelledAt: null };
  // One after another: inside a transaction there is one connection.
  const apiKeys = await prisma.apiKey.count({
    where: { ...where, ...madeByPeople, status: { not: 'revoked' } },
  });
  const managementKeys = await prisma.managementKey.count({ where: { ...where, revokedAt: null } });
  const members = await prisma.member.count({ where });
  const invitations = await prisma.invitation.count({ where: open });
  return {
    slug,
    balance: formatUsd(BigInt(row.balance)),
    held: formatUsd(BigInt(row.held)),
    apiKeys,
    managementKeys,
    members,
    invitations,
    runningJobs: row.jobs,
  };
}
