import type { Pool, PoolClient } from 'pg';
import { noteNextExpiry } from '#lib/control/billing/promo/grant';
import { endingSeconds } from '#lib/gateway/admission/money-store';
import { postLine, recallLeases } from '#lib/gateway/ledger/post-line';
import { type Change, publish } from '#lib/platform/data/change';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 3_000, statementMs: 10_000 };
/** Ended calls are posted within this time, and belong to what the credit has paid. */
const settleSeconds = 2;
const mostWorkspaces = 500;

const next = `
  SELECT w.id::text AS id FROM workspace w WHERE w.promo_ends_at <= now() - interval '${settleSeconds} seconds'
    OR (w.promo_ends_at <= now() + interval '${endingSeconds} seconds' AND EXISTS (SELECT FROM promo p
      WHERE p.workspace_id = w.id AND p.ended_at IS NULL AND p.recalled_at IS NULL
        AND p.expires_at <= now() + interval '${endingSeconds} seconds'))
  ORDER BY w.promo_ends_at LIMIT ${mostWorkspaces}`;

const lock = 'SELECT 1 FROM workspace WHERE id = $1::uuid FOR NO KEY UPDATE';

const dueNow = `
  SELECT id::text AS id, ref, left_nano::text AS left FROM promo
  WHERE workspace_id = $1::uuid AND ended_at IS NULL AND expires_at <= now() - interval '${settleSeconds} seconds'
  ORDER BY expires_at, id`;

/**
 * `held`: rows of open calls and jobs, and all that is leased, which covers the calls in memory. `real`: the funds
 * without simulated money, and what calls hold that cannot spend it.
 */
const money = `
  SELECT (w.balance_nano + w.credit_nano)::text AS funds,
    (w.balance_nano + w.credit_nano - w.simulated_nano)::text AS "realFunds",
    coalesce(sum(h.nano), 0)::text AS held, coalesce(sum(h.nano) FILTER (WHERE NOT h.simulated), 0)::text AS "realHeld"
  FROM workspace w LEFT JOIN LATERAL (
    SELECT amount_nano AS nano, simulated FROM hold WHERE workspace_id = w.id
    UNION ALL SELECT granted_nano, simulated FROM lease WHERE kind = 'workspace' AND subject_id = w.id
  ) AS h ON true
  WHERE w.id = $1::uuid GROUP BY w.id`;

const end = `
  UPDATE promo SET ended_at = now(), expired_nano = left_nano, left_nano = 0 WHERE id = $1::uuid`;

const recalled = `
  UPDATE promo SET recalled_at = now() WHERE workspace_id = $1::uuid AND ended_at IS NULL AND recalled_at IS NULL
    AND expires_at <= now() + interval '${endingSeconds} seconds'`;

/**
 * Ends the promo credits that have expired, and requests leases back if one is about to (contract: money/promo). Any
 * number of processes may do so: each credit ends in one transaction, under the row of its workspace.
 * @returns how many workspaces had something to do.
 * @throws Error of the database; what was done before stays done.
 */
export async function expirePromos(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(next);
  for (const { id } of rows) await transact(pool, limits, (client) => expireOf(client, id));
  return rows.length;
}

async function expireOf(client: PoolClient, workspaceId: string): Promise<void> {
  const changes: Change[] = [];
  await client.query(lock, [workspaceId]);
  await client.query('SELECT count_promo_use($1::uuid)', [workspaceId]);
  const due = (await client.query<{ id: string; ref: string; left: string }>(dueNow, [workspaceId])).rows;
  if (due.length > 0 && (await coversRunning(client, workspaceId, due))) {
    for (const { id, ref, left } of due) {
      const line = { workspaceId, kind: 'expiry', ref, amountNano: -BigInt(left), reason: null } as const;
      if (left !== '0') changes.push(...((await postLine(client, line)) ?? []));
      await client.query(end, [id]);
    }
  }
  const soon = await client.query(recalled, [workspaceId]);
  if (soon.rowCount) changes.push(await recallLeases(client, workspaceId));
  await client.query(noteNextExpiry, [workspaceId]);
  await publish(client, changes);
}

/**
 * Whether the rest covers the running calls. They were admitted on the credit and spend it first, so its line waits
 * until they have ended, while nothing new is admitted on it.
 */
async function coversRunning(
  client: PoolClient,
  workspaceId: string,
  due: readonly { readonly left: string }[],
): Promise<boolean> {
  const { rows } = await client.query<Record<'funds' | 'realFunds' | 'held' | 'realHeld', string>>(money, [
    workspaceId,
  ]);
  const leftNano = due.reduce((sum, { left }) => sum + BigInt(left), 0n);
  const covers = (funds: string, held: string) =>
    BigInt(held) === 0n || BigInt(funds) - leftNano >= BigInt(held);
  const [row] = rows;
  return !row || (covers(row.funds, row.held) && covers(row.realFunds, row.realHeld));
}
