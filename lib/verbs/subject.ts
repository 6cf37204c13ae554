import { isUuid } from '#lib/control/field/kinds';
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
