import type { Store } from '#lib/control/operations/store';
import type { Change } from '#lib/platform/data/change';

/**
 * The changes to publish when sessions end: the keys of their playgrounds stop with them
 * (contract: authentication/playground-key). Call it before the sessions are deleted.
 * @param ended ids of sessions of the user; if absent, all of them.
 */
export async function closePlaygrounds(
  store: Store,
  ended: { readonly userId: string; readonly ids?: readonly string[] },
): Promise<Change[]> {
  const keys = await store.query<{ id: string }>(
    `SELECT k.id::text AS id FROM api_key k JOIN session s ON s.id = k.session_id
     WHERE s.user_id = $1::uuid AND ($2::uuid[] IS NULL OR s.id = ANY ($2::uuid[])) AND k.expires_at > now()`,
    [ended.userId, ended.ids ?? null],
  );
  return keys.map(({ id }) => ({ kind: 'key', subject: id }));
}
