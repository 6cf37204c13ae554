import type { Pool } from 'pg';
import type { Fleet, FollowedFleet } from '#lib/gateway/limits/pure/share';

const READ_MS = 10_000;

/**
 * Follows which processes live, by their heartbeats in PostgreSQL: while a store of limits is away, it could not tell.
 * @param ownerId of this process.
 */
export function createFleet(pool: Pool, ownerId: string, report: (error: unknown) => void): FollowedFleet {
  let fleet: Fleet = { processes: 1, rank: 0 };
  let timer: NodeJS.Timeout | null = null;
  const read = async () => {
    const { rows } = await pool.query<{ processes: string; rank: string }>(
      `SELECT count(*) AS processes, count(*) FILTER (WHERE id < $1::uuid) AS rank
       FROM owner WHERE expires_at > now() OR id = $1::uuid`,
      [ownerId],
    );
    const [row] = rows;
    if (row) fleet = { processes: Math.max(1, Number(row.processes)), rank: Number(row.rank) };
  };
  return {
    now: () => fleet,
    start: async () => {
      await read();
      timer = setInterval(() => void read().catch(report), READ_MS);
      timer.unref();
    },
    stop: () => {
      if (timer) clearInterval(timer);
    },
  };
}
