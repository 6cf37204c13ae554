import { readableContent } from '#lib/control/operations/call/content-kept';
import type { Context } from '#lib/control/operations/declare';
import { conflict } from '#lib/control/operations/refusal';
import { type KeptContent, openContent } from '#lib/gateway/content/stored';

/** What was kept of a call, and until when it can be read. */
export type ReadContent = KeptContent & { readonly keepUntil: string };

/**
 * Reads and opens what was kept of a call of the workspace; the caller must record the reading in the audit log.
 * @returns null: nothing was kept, its time is over, or it was deleted (contract: content/lifetime).
 * @throws ControlRefused (conflict) if it cannot be opened.
 */
export async function readKept(
  { store, scope, sealingKey, nowMs }: Pick<Context<'workspace'>, 'store' | 'scope' | 'sealingKey' | 'nowMs'>,
  callId: string,
): Promise<ReadContent | null> {
  const [row] = await store.query<{ sealed: Uint8Array; keepUntil: Date }>(
    `SELECT c.sealed, c.keep_until AS "keepUntil" ${readableContent}
       AND c.call_id = $2::uuid AND c.workspace_id = $3::uuid`,
    [new Date(nowMs).toISOString(), callId, scope.workspaceId],
  );
  if (row === undefined) return null;
  if (sealingKey === null)
    throw conflict('set ENCRYPTION_KEY for this process; kept content cannot be decrypted without it');
  const owner = { workspaceId: scope.workspaceId, callId };
  const content = await openContent(owner, row.sealed, sealingKey).catch(() => {
    throw conflict('this content was sealed with another key; add that key to ENCRYPTION_KEY_OLD');
  });
  return { ...content, keepUntil: row.keepUntil.toISOString() };
}

interface SealedContent {
  readonly callId: string;
  readonly at: Date;
  readonly requestedModel: string | null;
  readonly sealed: Uint8Array;
}

/** What can be read of some calls of the workspace, the newest first; the caller must record it in the audit log. */
export function readSealed(
  { store, scope, nowMs }: Pick<Context<'workspace'>, 'store' | 'scope' | 'nowMs'>,
  callIds: readonly string[],
): Promise<SealedContent[]> {
  return store.query(
    `SELECT c.call_id::text AS "callId", c.at, c.sealed,
       (SELECT l.requested_model FROM call l WHERE l.id = c.call_id) AS "requestedModel" ${readableContent}
       AND c.call_id = ANY ($2::uuid[]) AND c.workspace_id = $3::uuid ORDER BY c.call_id DESC`,
    [new Date(nowMs).toISOString(), [...callIds], scope.workspaceId],
  );
}
