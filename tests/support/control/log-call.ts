import type { Pool } from 'pg';

/** Inserts a refused call that cost nothing, because no operation makes one. */
export async function logCall(pool: Pool, id: string, workspaceId: string): Promise<void> {
  await pool.query(
    `INSERT INTO call (id, at, workspace_id, key_id, family, operation, status, streamed, latency_ms, overhead_ms,
       end_reason, usage_source, flags, usage, lines, attempts, cost_nano, hold_nano, over_hold_nano)
     VALUES ($2, now(), $1, $1, 'chat', 'chat.create', 400, false, 1, 1, 'refused', 'none', '{}', '{}', '[]', '[]', 0, 0, 0)`,
    [workspaceId, id],
  );
}
