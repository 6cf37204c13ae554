import { z } from 'zod';
import { fundsNano } from '#lib/control/billing/low-balance';
import { budgetEnds, readBudgets } from '#lib/control/billing/month';
import { userOf } from '#lib/control/operations/actor';
import { read } from '#lib/control/operations/declare';
import { notFound } from '#lib/control/operations/refusal';
import { availableNano, heldNano } from '#lib/control/operations/workspace/find';
import { showFirstRun } from '#lib/control/operations/workspace/first-run';
import { formatUsd } from '#lib/core/money';
import { roleOf, roles } from '#lib/core/role';

/** For the switcher of the console: the user's workspaces by name, demo data last. */
export const listOwnWorkspaces = read({
  name: 'workspace.mine',
  summary: 'Lists the workspaces of the signed-in user, with the role in each.',
  reach: 'self',
  permission: null,
  output: z.object({
    data: z.array(z.object({ slug: z.string(), name: z.string(), role: z.enum(roles).nullable() })),
  }),
  run: async ({ store, actor }) => {
    const userId = userOf(actor);
    if (userId === null) return { data: [] };
    const rows = await store.prisma.member.findMany({
      where: { userId },
      select: { role: true, workspace: { select: { slug: true, name: true } } },
      orderBy: [{ workspace: { demo: 'asc' } }, { workspace: { name: 'asc' } }, { workspaceId: 'asc' }],
    });
    return { data: rows.map(({ role, workspace }) => ({ ...workspace, role: roleOf(role) })) };
  },
});

/** What every page of the console shows; without keys, of which there may be thousands. */
export const visitWorkspace = read({
  name: 'workspace.visit',
  summary: 'Shows a workspace for every page of the console, with the role of the signed-in user.',
  reach: 'workspace',
  permission: 'workspace:read',
  output: z.object({
    id: z.uuid(),
    slug: z.string(),
    name: z.string(),
    timeZone: z.string(),
    role: z.enum([...roles, 'operator']),
    available: z.string(),
    held: z.string().describe('By running calls and jobs.'),
    topUpsPaused: z.boolean().describe('Whether automatic top-ups are on but paused.'),
    budgetUsedUp: z.boolean().describe('Whether a hard monthly budget refuses calls.'),
    low: z.boolean().describe('Whether the funds are below the workspace’s low-balance threshold.'),
    suspension: z
      .object({ reason: z.string().nullable(), contact: z.string().nullable() })
      .nullable()
      .describe('Why it is suspended and whom to ask; null: it is not.'),
    demo: z.boolean(),
  }),
  run: async ({ store, scope, role, nowMs }) => {
    const budgets = await readBudgets(store, [scope.workspaceId], nowMs);
    const [row] = await store.query<{
      name: string;
      available: string;
      held: string;
      low: boolean;
      paused: boolean;
      suspended: boolean;
      reason: string | null;
      contact: string | null;
    }>(
      `SELECT w.name, (${availableNano})::text AS available, (${heldNano})::text AS held,
         coalesce(${fundsNano} < w.low_balance_nano, false) AS low,
         EXISTS (SELECT FROM auto_top_up a WHERE a.workspace_id = w.id AND a.enabled AND a.paused_at IS NOT NULL) AS paused,
         w.suspended_at IS NOT NULL AS suspended, w.suspended_reason AS reason, w.suspended_contact AS contact
       FROM workspace w WHERE w.id = $1::uuid`,
      [scope.workspaceId],
    );
    if (row === undefined || role === null) throw notFound('this workspace is gone', 'workspace');
    const { workspaceId: id, slug, timeZone, demo } = scope;
    const available = formatUsd(BigInt(row.available));
    return {
      id,
      slug,
      timeZone,
      role,
      name: row.name,
      available,
      held: formatUsd(BigInt(row.held)),
      budgetUsedUp: budgetEnds(budgets.get(id)) !== null,
      low: row.low,
      topUpsPaused: row.paused,
      suspension: row.suspended ? { reason: row.reason, contact: row.contact } : null,
      demo,
    };
  },
});

export const ownOperations = [listOwnWorkspaces, visitWorkspace, showFirstRun];
