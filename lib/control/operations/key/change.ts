import type { ApiKey, Prisma } from '#generated/client';
import type { Context, Done, State } from '#lib/control/operations/declare';
import { isUuid } from '#lib/control/operations/field/kinds';
import { noKey } from '#lib/control/operations/key/find';
import { type KeyState, stateOfRow } from '#lib/control/operations/key/settings';
import { conflict } from '#lib/control/operations/refusal';
import { within } from '#lib/control/operations/scope';
import type { Change } from '#lib/platform/data/change';

/** What a change of a key writes and publishes. */
interface Write {
  readonly data: Prisma.ApiKeyUpdateInput;
  readonly changes?: readonly Change[];
  readonly detail?: State;
}

/**
 * Changes a key under its row's lock. Rows are locked in the order workspace, key, change head.
 * @param work returns what to write for the current key; null: it is already as requested.
 * @throws ControlRefused not_found outside the scope; conflict for a revoked key, which is final.
 */
export async function changeKey(
  context: Context<'subject'>,
  id: string,
  work: (key: ApiKey) => Write | null | Promise<Write | null>,
): Promise<Done<{ id: string } & KeyState>> {
  const key = await lockKey(context, id);
  const before = stateOfRow(key);
  context.expect(before);
  const write = await work(key);
  if (write !== null && key.status === 'revoked') {
    throw conflict('this key is revoked for good; create a new one', 'id');
  }
  const row = write ? await context.store.prisma.apiKey.update({ where: { id }, data: write.data }) : key;
  const after = stateOfRow(row);
  return {
    result: { id, ...after },
    subject: id,
    workspaceId: key.workspaceId,
    before,
    after,
    ...(write?.detail ? { detail: write.detail } : {}),
    changes: write ? [{ kind: 'key', subject: id }, ...(write.changes ?? [])] : [],
  };
}

async function lockKey({ store, scope }: Context<'subject'>, id: string): Promise<ApiKey> {
  if (!isUuid(id)) throw noKey(id);
  const values: unknown[] = [id];
  const inside = within(scope, 'workspace_id', values);
  const locked = await store.query(
    `SELECT 1 AS one FROM api_key WHERE id = $1::uuid AND session_id IS NULL AND ${inside} FOR NO KEY UPDATE`,
    values,
  );
  const key = locked.length === 1 ? await store.prisma.apiKey.findUnique({ where: { id } }) : null;
  if (key === null) throw noKey(id);
  return key;
}

/**
 * Recalls from every process what it has leased of a key's caps and not spent, because the caps changed.
 * @returns what must be published in the same transaction.
 */
export async function recallKeyLeases({ store }: Context, keyId: string): Promise<Change> {
  const where = { kind: 'key', subjectId: keyId, recalledAt: null };
  await store.prisma.lease.updateMany({ where, data: { recalledAt: new Date() } });
  return { kind: 'lease', subject: `key:${keyId}` };
}
