import type { Change } from '#lib/data/change';
import { isUuid } from '#lib/verbs/inputs';
import { type Tx, VerbRefused } from '#lib/verbs/verb';

/**
 * Locks a workspace row until the end of the transaction and reads it. Rows are locked in the order
 * workspace, key, change head.
 * @param workspace its slug or its id.
 * @throws VerbRefused when there is none.
 */
export async function lockWorkspace(tx: Tx, workspace: string) {
  if (isUuid(workspace)) {
    await tx.$queryRaw`SELECT 1 FROM workspace WHERE id = ${workspace}::uuid FOR NO KEY UPDATE`;
  } else {
    await tx.$queryRaw`SELECT 1 FROM workspace WHERE slug = ${workspace} FOR NO KEY UPDATE`;
  }
  const where = isUuid(workspace) ? { id: workspace } : { slug: workspace };
  const found = await tx.workspace.findUnique({ where });
  if (found === null) {
    throw new VerbRefused(`there is no workspace "${workspace}"; check its slug`, 'workspace');
  }
  return found;
}

/**
 * Locks a key row until the end of the transaction and reads it.
 * @param scope where a member acts: a key of another workspace is then as good as none.
 * @throws VerbRefused when there is none.
 */
export async function lockKey(tx: Tx, scope: { id: string; workspaceId?: string | undefined }) {
  const found = isUuid(scope.id) ? await readLocked(tx, scope.id) : null;
  if (found === null || (scope.workspaceId !== undefined && found.workspaceId !== scope.workspaceId)) {
    throw new VerbRefused(`there is no API key "${scope.id}"; check its id`, 'id');
  }
  return found;
}

async function readLocked(tx: Tx, id: string) {
  await tx.$queryRaw`SELECT 1 FROM api_key WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
  return tx.apiKey.findUnique({ where: { id } });
}

/**
 * Asks every process for what it has leased of a key's caps and not spent: they were changed.
 * @returns what must be published in the same transaction.
 */
export async function recallKeyLeases(tx: Tx, keyId: string): Promise<Change> {
  const where = { kind: 'key', subjectId: keyId, recalledAt: null };
  await tx.lease.updateMany({ where, data: { recalledAt: new Date() } });
  return { kind: 'lease', subject: `key:${keyId}` };
}
