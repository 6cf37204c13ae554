import type { Pool } from 'pg';
import { newQuarter, quarterMs, startOf } from '#lib/gateway/settlement/pure/quarter';
import { addSums } from '#lib/gateway/settlement/settle';

/** Adds what settlement would add to the sums of minutes and quarters for a call of a key at this cost. */
export async function spendAt(pool: Pool, keyId: string, atMs: number, nano: bigint): Promise<void> {
  const { rows } = await pool.query<{ id: string }>('SELECT workspace_id AS id FROM api_key WHERE id = $1', [
    keyId,
  ]);
  const workspaceId = rows[0]?.id;
  if (workspaceId === undefined) throw new Error(`no key ${keyId}`);
  const place = { workspaceId, keyId, quarterMs: startOf(atMs, quarterMs), model: 'a/b', provider: 'one' };
  const client = await pool.connect();
  try {
    await addSums(client, {
      minutes: [{ keyId, minuteMs: startOf(atMs, 60_000), spentNano: nano }],
      quarters: [{ ...newQuarter(place), calls: 1, costNano: nano }],
    });
  } finally {
    client.release();
  }
}

/** The same, this many minutes before the database's time. */
export async function spendAgo(pool: Pool, keyId: string, minutesAgo: number, nano: bigint): Promise<void> {
  const { rows } = await pool.query<{ now: Date }>('SELECT now() AS now');
  await spendAt(pool, keyId, (rows[0]?.now.getTime() ?? Number.NaN) - minutesAgo * 60_000, nano);
}
