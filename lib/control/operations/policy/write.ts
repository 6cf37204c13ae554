import { userOf } from '#lib/control/operations/actor';
import type { Context, Done } from '#lib/control/operations/declare';
import { checkPolicy, type readPolicies } from '#lib/control/operations/policy/check';
import type { Policy } from '#lib/core/facts/snapshot';

/** Locks the workspace, so that versions of a policy and revisions of a draft are numbered consecutively. */
export async function lockPolicies({ store, scope }: Context<'workspace'>): Promise<void> {
  await store.query('SELECT 1 AS one FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE', [
    scope.workspaceId,
  ]);
}

/** Adds a checked policy as the newest version. */
export async function writePolicy(
  context: Context<'workspace'>,
  stored: Awaited<ReturnType<typeof readPolicies>>,
  place: string,
  policy: Policy,
): Promise<Omit<Done<unknown>, 'result' | 'before'> & { version: number }> {
  const { store, scope, actor } = context;
  const { workspaceId } = scope;
  await checkPolicy(store, stored, place, policy);
  const version = (stored.get(place)?.version ?? 0) + 1;
  const json = JSON.parse(JSON.stringify(policy));
  const { translate = null, ...others } = json;
  const createdBy = userOf(actor);
  await store.prisma.policy.create({
    data: { workspaceId, modelId: place, version, policy: others, translate, createdBy },
  });
  return {
    version,
    subject: workspaceId,
    after: { policy: json },
    changes: [{ kind: 'policy', subject: workspaceId }],
  };
}
