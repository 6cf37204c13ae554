import { keptUntil, readableContent } from '#lib/control/operations/call/content-kept';
import type { Context } from '#lib/control/operations/declare';
import { ControlRefused, conflict } from '#lib/control/operations/refusal';
import { type KeptContent, openContent } from '#lib/gateway/content/stored';

/** What was kept of a call, and until when it can be read. */
export type ReadContent = KeptContent & { readonly keepUntil: string };

/** Where the content of a call is: in its row, or in an object of a store (contract: content/store). */
export interface Sealed {
  readonly sealed: Uint8Array | null;
  readonly object: string | null;
}
const where = `c.sealed, (SELECT o.name FROM content_object o WHERE o.call_id = c.call_id) AS object`;

/**
 * Finds what was kept of a call of the workspace, and does not read it yet.
 * @returns null: nothing was kept, its time is over, or it was deleted (contract: content/lifetime).
 */
export async function findKept(
  { store, scope, nowMs }: Pick<Context<'workspace'>, 'store' | 'scope' | 'nowMs'>,
  callId: string,
): Promise<(Sealed & { readonly keepUntil: Date }) | null> {
  const [row] = await store.query<Sealed & { keepUntil: Date }>(
    `SELECT ${where}, ${keptUntil} AS "keepUntil" ${readableContent}
       AND c.call_id = $2::uuid AND c.workspace_id = $3::uuid`,
    [new Date(nowMs).toISOString(), callId, scope.workspaceId],
  );
  return row ?? null;
}

/**
 * Reads and opens what was kept of a call of the workspace; the caller must record the reading in the audit log. Not
 * inside a transaction: a store may take seconds.
 * @returns null: as `findKept`, or the store no longer has it.
 * @throws ControlRefused (conflict) if it cannot be opened, (content_store_unreachable) if the store does not answer.
 */
export async function readKept(
  context: Pick<Context<'workspace'>, 'store' | 'scope' | 'sealingKey' | 'objects' | 'nowMs'>,
  callId: string,
): Promise<ReadContent | null> {
  const row = await findKept(context, callId);
  if (row === null) return null;
  const { scope, sealingKey } = context;
  if (sealingKey === null)
    throw conflict('set ENCRYPTION_KEY for this process; kept content cannot be decrypted without it');
  const sealed = await bytesOf(context, row);
  // Deleted a moment ago, or by others than the gateway.
  if (sealed === null) return null;
  const owner = { workspaceId: scope.workspaceId, callId };
  const content = await openContent(owner, sealed, sealingKey).catch(() => {
    throw conflict('this content was sealed with another key; add that key to ENCRYPTION_KEY_OLD');
  });
  return { ...content, keepUntil: row.keepUntil.toISOString() };
}

/**
 * The sealed bytes of content.
 * @returns null: the store has no such object.
 * @throws ControlRefused (content_store_unreachable) if the store does not answer.
 */
export async function bytesOf(
  { objects }: Pick<Context<'workspace'>, 'objects'>,
  { sealed, object }: Sealed,
): Promise<Uint8Array | null> {
  if (sealed !== null || object === null) return sealed;
  const read = objects?.get(object) ?? Promise.reject(new Error('this process has no content store'));
  return read.catch((error: unknown) => {
    // Its own words are for the operator, who gets them from "gateway doctor".
    throw new ControlRefused(
      'content_store_unreachable',
      'the store of kept content cannot be read; try again in a minute, or ask the operator to run "gateway doctor"',
      null,
      { cause: error },
    );
  });
}

interface FoundSealed extends Sealed {
  readonly callId: string;
  readonly at: Date;
  readonly requestedModel: string | null;
}

/** What can be read of some calls of the workspace, the newest first; the caller must record it in the audit log. */
export function readSealed(
  { store, scope, nowMs }: Pick<Context<'workspace'>, 'store' | 'scope' | 'nowMs'>,
  callIds: readonly string[],
): Promise<FoundSealed[]> {
  return store.query(
    `SELECT c.call_id::text AS "callId", c.at, ${where},
       (SELECT l.requested_model FROM call l WHERE l.id = c.call_id) AS "requestedModel" ${readableContent}
       AND c.call_id = ANY ($2::uuid[]) AND c.workspace_id = $3::uuid ORDER BY c.call_id DESC`,
    [new Date(nowMs).toISOString(), [...callIds], scope.workspaceId],
  );
}
