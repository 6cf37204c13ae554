import type { Pool } from 'pg';
import type { FileRoom } from '#lib/core/facts/resource';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 5_000, statementMs: 5_000 };
/** An upload that has not been recorded by then never will be. */
const HELD = "interval '1 hour'";

/** One at a time for each workspace, so that uploads at the same time cannot exceed a limit together. */
const lock = 'SELECT 1 FROM workspace WHERE id = $1 FOR NO KEY UPDATE';
const clean = `DELETE FROM file_room WHERE workspace_id = $1 AND at < now() - ${HELD}`;
/** Files that are recorded, and those on their way. */
const sum = `
  SELECT count(*)::int AS files, coalesce(sum(bytes), 0)::text AS bytes FROM (
    SELECT coalesce((r.view->>'bytes')::numeric, (r.view->>'size_bytes')::numeric,
      (r.view->>'sizeBytes')::numeric, 0) AS bytes FROM resource r
    WHERE r.workspace_id = $1 AND r.kind = 'file' AND r.view IS NOT NULL AND r.deleted_at IS NULL
      AND coalesce((r.view->>'expirationTime')::timestamptz > now(), true)
    UNION ALL
    SELECT f.bytes FROM file_room f WHERE f.workspace_id = $1
      AND NOT EXISTS (SELECT FROM resource r WHERE r.call_id = f.call_id AND r.kind = 'file')
  ) AS stored`;
const take = 'INSERT INTO file_room (call_id, workspace_id, bytes) VALUES ($1, $2, $3)';

/** @param most what files of a workspace may add up to. */
export function openFileRoom(pool: Pool, most: { readonly files: number; readonly bytes: number }): FileRoom {
  return {
    take: ({ callId, workspaceId, bytes }) =>
      transact(pool, limits, async (client) => {
        await client.query(lock, [workspaceId]);
        await client.query(clean, [workspaceId]);
        const { rows } = await client.query<{ files: number; bytes: string }>(sum, [workspaceId]);
        const [stored] = rows;
        if ((stored?.files ?? 0) >= most.files) return { limit: 'files', most: most.files } as const;
        if (Number(stored?.bytes ?? 0) + bytes > most.bytes)
          return { limit: 'bytes', most: most.bytes } as const;
        await client.query(take, [callId, workspaceId, bytes]);
        return null;
      }),
    leave: async (callId) => {
      await pool.query('DELETE FROM file_room WHERE call_id = $1', [callId]);
    },
  };
}
