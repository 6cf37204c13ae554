import type { ManagementKeyActor } from '#lib/control/operations/actor';
import { type Store, storeOf } from '#lib/control/operations/store';
import { mayGive, roleOf } from '#lib/core/role';
import type { Db } from '#lib/platform/data/db';
import { hashKey } from '#lib/platform/secrets';

interface Found {
  id: string;
  name: string;
  workspace_id: string | null;
  role: string | null;
  created_by: string | null;
  maker_role: string | null;
  maker_operator: boolean | null;
}

const standing = `
  SELECT k.id::text AS id, k.name, k.workspace_id::text AS workspace_id, k.role,
    k.created_by::text AS created_by, m.role AS maker_role, u.operator AS maker_operator
  FROM management_key k LEFT JOIN "user" u ON u.id = k.created_by
  LEFT JOIN member m ON m.user_id = k.created_by AND m.workspace_id = k.workspace_id`;

const noteUse = `
  UPDATE management_key SET last_used_at = now()
  WHERE id = $1::uuid AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`;

/**
 * The actor of a management key; null if it is unknown, revoked, or void because its creator has lost the
 * role under which it was created (contract: control-plane/management-keys).
 * @param secret a well-formed management key.
 */
export async function findManagementKey(
  db: Db,
  secret: string,
  pepper: string,
  address: string | null,
): Promise<ManagementKeyActor | null> {
  const [found] = await storeOf(db).query<Found>(`${standing} WHERE k.hash = $1 AND k.revoked_at IS NULL`, [
    hashKey(secret, pepper),
  ]);
  if (found === undefined || isVoid(found)) return null;
  // Nothing waits for it or fails with it: the time of last use is only accurate to the minute.
  void db.pool.query(noteUse, [found.id]).catch(() => undefined);
  return {
    kind: 'management-key',
    keyId: found.id,
    name: found.name,
    workspaceId: found.workspace_id,
    role: found.role === null ? null : roleOf(found.role),
    madeBy: found.created_by,
    address,
  };
}

/** The same inside a mutation, in case the key is revoked or its creator loses the role at that moment. */
export async function isVoidNow({ query }: Store, { keyId }: ManagementKeyActor): Promise<boolean> {
  const [found] = await query<Found>(`${standing} WHERE k.id = $1::uuid AND k.revoked_at IS NULL`, [keyId]);
  return found === undefined || isVoid(found);
}

/** Whether its creator could no longer create it. A key created by the command line has no creator. */
function isVoid(found: Pick<Found, 'created_by' | 'maker_operator' | 'maker_role' | 'role'>): boolean {
  if (found.created_by === null || found.maker_operator === true) return false;
  const role = found.role === null ? null : roleOf(found.role);
  const makers = found.maker_role === null ? null : roleOf(found.maker_role);
  return role === null || makers === null || !mayGive(makers, role);
}
