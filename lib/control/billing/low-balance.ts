import type { Pool, PoolClient } from 'pg';
import { queueMail } from '#lib/control/outbox/queue-mail';
import { formatUsd } from '#lib/core/money';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 3_000, statementMs: 10_000 };
const lifeSeconds = 3 * 86_400;
const mostWorkspaces = 500;

/** What workspace `w` has without what running calls hold: holds come and go, and would cross the threshold with each call. */
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
  RETURNING w.slug, w.name, w.low_balance_nano::text AS threshold, (${fundsNano})::text AS funds`;

/** Those who may do something about it. */
const payersOf = `
  SELECT u.email FROM member m JOIN "user" u ON u.id = m.user_id
  WHERE m.workspace_id = $1::uuid AND m.role IN ('owner', 'admin', 'billing') ORDER BY u.email`;

/**
 * Finds the workspaces whose funds have fallen below their threshold, or have risen above it again, and has those told
 * by mail that fell (contract: money/low-balance). Any number of processes may look: the crossing is marked in the
 * transaction that queues the mails, so that each is told of once.
 * @returns how many workspaces had crossed, either way.
 * @throws Error of the database; what was told before stays told.
 */
export async function tellLowBalances(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(next);
  for (const { id } of rows) await transact(pool, limits, (client) => tell(client, id));
  return rows.length;
}

async function tell(client: PoolClient, workspaceId: string): Promise<void> {
  await client.query(rise, [workspaceId]);
  const fallen = await client.query<{ slug: string; name: string; threshold: string; funds: string }>(fall, [
    workspaceId,
  ]);
  const [workspace] = fallen.rows;
  if (workspace === undefined) return;
  const { slug, name, threshold, funds } = workspace;
  const facts = { slug, name, threshold: formatUsd(BigInt(threshold)), funds: formatUsd(BigInt(funds)) };
  const payers = await client.query<{ email: string }>(payersOf, [workspaceId]);
  for (const { email } of payers.rows)
    await queueMail(client, { kind: 'low-balance', recipient: email, facts, lifeSeconds });
}
