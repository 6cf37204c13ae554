import type { Pool } from 'pg';
import type { Payments } from '#lib/billing/payments/client';

/**
 * Stripe's customer of a workspace, made when it first pays. Two that ask at once are given one.
 * @throws Error of Stripe's client or the database.
 */
export async function customerOf(
  pool: Pool,
  { stripe, livemode }: Payments,
  workspaceId: string,
): Promise<string> {
  const known = await findCustomer(pool, workspaceId, livemode);
  if (known !== null) return known;
  const made = await stripe.customers.create(
    { metadata: { workspace: workspaceId } },
    { idempotencyKey: `customer:${workspaceId}` },
  );
  await keepCustomer(pool, workspaceId, livemode, made.id);
  return (await findCustomer(pool, workspaceId, livemode)) ?? made.id;
}

async function findCustomer(pool: Pool, workspaceId: string, livemode: boolean): Promise<string | null> {
  const { rows } = await pool.query<{ customer: string }>(
    'SELECT customer FROM payer WHERE workspace_id = $1::uuid AND livemode = $2::boolean',
    [workspaceId, livemode],
  );
  return rows[0]?.customer ?? null;
}

async function keepCustomer(
  pool: Pool,
  workspaceId: string,
  livemode: boolean,
  customer: string,
): Promise<void> {
  await pool.query(
    'INSERT INTO payer (workspace_id, livemode, customer) VALUES ($1::uuid, $2, $3) ON CONFLICT DO NOTHING',
    [workspaceId, livemode, customer],
  );
}
