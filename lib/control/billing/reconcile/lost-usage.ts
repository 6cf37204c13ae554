import type { Pool } from 'pg';
import type { Payments } from '#lib/control/billing/payments/client';
import { isMissing } from '#lib/control/billing/payments/customer';

/** Usage of a workspace that was charged once and that the ledger has lost. */
export interface LostUsage {
  readonly workspace: string;
  readonly nano: bigint;
  /** When Stripe was last informed of it; null: unknown. */
  readonly until: Date | null;
}

interface Payer {
  readonly workspaceId: string;
  readonly customer: string;
  readonly spent: string;
  readonly told: string;
}

/** Usage is the sum of all other lines minus the balance, so that the usage lines need not be added up. */
const payersOf = `
  SELECT p.workspace_id AS "workspaceId", p.customer, p.told_nano::text AS told,
    (coalesce((SELECT sum(l.amount_nano) FROM ledger_line l
      WHERE l.workspace_id = p.workspace_id AND l.kind <> 'usage'), 0) - w.balance_nano)::text AS spent
  FROM payer p JOIN workspace w ON w.id = p.workspace_id WHERE p.livemode = $1::boolean ORDER BY p.workspace_id`;

/**
 * Stores at Stripe how much each paying workspace has spent, in the metadata of its customer, and records if Stripe has
 * a higher amount than this database, which then was restored from an older copy (contract: money/reconcile).
 * @param all also compares workspaces whose usage is what was last stored at Stripe.
 * @throws Error of Stripe's client or the database; it may be repeated.
 */
export async function compareUsage(
  pool: Pool,
  payments: Payments,
  nowMs: number,
  all: boolean,
): Promise<void> {
  const { rows } = await pool.query<Payer>(payersOf, [payments.livemode]);
  let older = all;
  for (const payer of rows) {
    if (payer.spent === payer.told && !older) continue;
    // If one is behind, all may be.
    if (await compareOne(pool, payments, payer, nowMs)) {
      if (!older) return compareUsage(pool, payments, nowMs, true);
      older = true;
    }
  }
}

/** @returns whether usage is missing here. */
async function compareOne(
  pool: Pool,
  { stripe }: Payments,
  { workspaceId, customer, spent, told }: Payer,
  nowMs: number,
): Promise<boolean> {
  const found = await stripe.customers.retrieve(customer).catch((error: unknown) => {
    // The customer belongs to another account, whose metadata is unknown here.
    if (isMissing(error)) return null;
    throw error;
  });
  if (!found || found.deleted) return false;
  const { spent_nano: toldText = '0', spent_at: at } = found.metadata;
  const toldNano = /^\d{1,18}$/.test(toldText) ? BigInt(toldText) : 0n;
  const spentNano = BigInt(spent);
  const lost = toldNano > spentNano;
  if (lost) {
    await pool.query(
      `INSERT INTO lost_usage (customer, told_nano, workspace_id, nano, until)
       VALUES ($1, $2::bigint, $3::uuid, $4::bigint, $5) ON CONFLICT DO NOTHING`,
      [customer, `${toldNano}`, workspaceId, `${toldNano - spentNano}`, momentOf(at)],
    );
  }
  if (toldNano !== spentNano && spentNano >= 0n) {
    const metadata = { spent_nano: spent, spent_at: new Date(nowMs).toISOString() };
    await stripe.customers.update(customer, { metadata });
  }
  if (told !== spent) {
    await pool.query('UPDATE payer SET told_nano = $2::bigint WHERE customer = $1', [customer, spent]);
  }
  return lost;
}

function momentOf(text: string | undefined): Date | null {
  const at = new Date(text ?? '');
  return Number.isNaN(at.getTime()) ? null : at;
}

/** What was noticed in the last 30 days, the newest first. */
export async function listLostUsage(pool: Pool): Promise<LostUsage[]> {
  const { rows } = await pool.query<{ workspace: string; nano: string; until: Date | null }>(
    `SELECT w.slug AS workspace, u.nano::text AS nano, u.until FROM lost_usage u JOIN workspace w ON w.id = u.workspace_id
     WHERE u.noticed_at > now() - interval '30 days' ORDER BY u.noticed_at DESC, w.slug LIMIT 1000`,
  );
  return rows.map(({ workspace, nano, until }) => ({ workspace, nano: BigInt(nano), until }));
}
