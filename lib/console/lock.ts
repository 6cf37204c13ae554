import type { Membership } from '#lib/console/member';
import { may, type Permission, rolesThatMay } from '#lib/core/role';

/**
 * Why the reader of a page may not do something in a workspace, for the controls that are disabled with it; null: they
 * may. The operations decide it once more (contract: control-plane/suspended, control-plane/permission-denied).
 * @param task "change keys".
 */
export function lockOf(
  { role, workspace }: Pick<Membership, 'role' | 'workspace'>,
  permission: Permission,
  task: string,
): string | null {
  if (workspace.suspension && role !== 'operator')
    return 'This workspace is suspended, so nothing in it can be changed.';
  return may(role, permission)
    ? null
    : `Your role is ${role}. Ask an ${rolesThatMay(permission)} to ${task}.`;
}
