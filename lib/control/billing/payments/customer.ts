import type { Pool } from 'pg';
import type { Payments } from '#lib/control/billing/payments/client';

/**
 * Does something with Stripe's customer of a workspace. A customer that no longer exists there, or belongs to another
 * account, is forgotten with its card and replaced (contract: money/saved-card).
 * @param work gets whether the customer was replaced: its idempotency key then belongs to another request.
 * @throws Error of Stripe's client or the database.
 */
export async function withCustomer<R>(
  pool: Pool,
  payments: Payments,
  workspaceId: string,
  work: (customer: string, replaced: boolean) => Promise<R>,
): Promise<R> {
  const first = await customerOf(pool, payments, workspaceId, null);
  try {
    return await work(first, false);
  } catch (error) {
    if (!isMissing(error, 'customer')) throw error;
    await pool.query('DELETE FROM payer WHERE customer = $1', [first]);
    return work(await customerOf(pool, payments, workspaceId, first), true);
  }
}

/** Whether Stripe says that something does not exist. @param param of the request that names it; absent: any. */
export function isMissing(error: unknown, param?: string): boolean {
  if (!(error instanceof Error && 'code' in error) || error.code !== 'resource_missing') return false;
  return param === undefined || ('param' in error && error.param === param);
}

/**
 * The customer of a workspace, created when it first pays; concurrent requests get the same one.
 * @param gone the customer that it replaces; null: it is the first.
 */
async function customerOf(
  pool: Pool,
  { stripe, livemode }: Payments,
  workspaceId: string,
  gone: string | null,
): Promise<string> {
  const known = await findCustomer(pool, workspaceId, livemode);
  if (known !== null) return known;
  const made = await stripe.customers.create(
    { metadata: { workspace: workspaceId } },
    { idempotencyKey: ['customer', workspaceId, ...(gone === null ? [] : [gone])].join(':') },
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
