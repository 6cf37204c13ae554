import type { Pool, PoolClient } from 'pg';
import { mailMembers } from '#lib/control/outbox/queue-mail';
import { formatUsd } from '#lib/core/money';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 3_000, statementMs: 10_000 };
const lifeSeconds = 3 * 86_400;
const mostWorkspaces = 500;

/** Funds of workspace `w`, ignoring holds of running calls, with which they would cross the threshold at each call. */
export const fundsNano = `w.balance_nano + w.credit_nano
  - CASE WHEN w.promo_ends_at <= now() THEN promo_left(w.id, now()) ELSE 0 END`;

const crossed = `
  w.deleted_at IS NULL AND w.low_balance_nano IS NOT NULL AND w.low_balance_since IS NULL AND ${fundsNano} < w.low_balance_nano`;
const recovered = `
  w.low_balance_since IS NOT NULL AND (w.low_balance_nano IS NULL OR ${fundsNano} >= w.low_balance_nano)`;

const next = `
  SELECT w.id::text AS id FROM workspace w WHERE (w.low_balance_nano IS NOT NULL OR w.low_balance_since IS NOT NULL)
    AND ((${crossed}) OR (${recovered})) ORDER BY w.id LIMIT ${mostWorkspaces}`;

const rise = `UPDATE workspace w SET low_balance_since = NULL WHERE w.id = $1::uuid AND ${recovered}`;

const fall = `
  UPDATE workspace w SET low_balance_since = now() WHERE w.id = $1::uuid AND ${crossed}
  RETURNING w.low_balance_nano::text AS threshold, (${fundsNano})::text AS funds`;

/**
 * Finds the workspaces whose funds have fallen below their threshold, or have risen above it again, and queues mails
 * about those that fell (contract: money/low-balance). Any number of processes may look: the crossing is marked in the
 * transaction that queues the mails, so that each is reported once.
 * @returns how many workspaces had crossed, either way.
 * @throws Error of the database; what was queued before stays queued.
 */
export async function tellLowBalances(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(next);
  for (const { id } of rows) await transact(pool, limits, (client) => tell(client, id));
  return rows.length;
}

async function tell(client: PoolClient, workspaceId: string): Promise<void> {
  await client.query(rise, [workspaceId]);
  const { rows } = await client.query<{ threshold: string; funds: string }>(fall, [workspaceId]);
  const [fallen] = rows;
  if (fallen === undefined) return;
  const facts = { threshold: formatUsd(BigInt(fallen.threshold)), funds: formatUsd(BigInt(fallen.funds)) };
  await mailMembers(client, workspaceId, ['owner', 'admin', 'billing'], {
    kind: 'low-balance',
    facts,
    lifeSeconds,
  });
}
