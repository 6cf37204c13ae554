import type { Store } from '#lib/control/operations/store';

/** Until when content is kept: a shorter time that its workspace has set since then counts too. */
export const keptUntil = 'least(c.keep_until, c.at + make_interval(hours => 24 * w.content_days))';

/** Conditions under which kept content can be read; $1: now, as text (contract: content/lifetime). */
export const readableContent = `
  FROM call_content c JOIN workspace w ON w.id = c.workspace_id LEFT JOIN api_key k ON k.id = c.key_id
  WHERE ${keptUntil} > $1::timestamptz
    AND (w.content_deleted_at IS NULL OR w.content_deleted_at <= c.at)
    AND (k.content_deleted_at IS NULL OR k.content_deleted_at <= c.at)`;

/** By call, until when its content can be read; calls whose content is not kept are missing. */
export async function readContentTimes(
  store: Pick<Store, 'query'>,
  callIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, Date>> {
  const rows = await store.query<{ id: string; keepUntil: Date }>(
    `SELECT c.call_id::text AS id, ${keptUntil} AS "keepUntil" ${readableContent} AND c.call_id = ANY ($2::uuid[])`,
    [new Date(nowMs).toISOString(), callIds],
  );
  return new Map(rows.map(({ id, keepUntil }) => [id, keepUntil]));
}
