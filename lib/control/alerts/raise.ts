import type { Pool, PoolClient } from 'pg';
import { eventBody } from '#lib/control/alerts/events';
import { findConditions } from '#lib/control/alerts/find';
import { type Found, forBilling, ownMail, quietHours } from '#lib/control/alerts/kinds';
import { rateSubject } from '#lib/control/alerts/rates';
import { mailMembers } from '#lib/control/outbox/queue-mail';
import type { Role } from '#lib/core/role';
import { newRowId } from '#lib/platform/data/row-id';
import { transact } from '#lib/platform/data/transaction/transaction';

const limits = { lockMs: 3_000, statementMs: 10_000 };
const mailSeconds = 3 * 86_400;

const raise = `
  INSERT INTO alert (id, workspace_id, kind, subject, facts)
  SELECT $1::uuid, w.id, $3, $4, $5::jsonb FROM workspace w
  WHERE w.id = $2::uuid AND w.deleted_at IS NULL AND NOT $3 = ANY (coalesce(w.muted_alerts, '{}')) AND NOT EXISTS (
    SELECT FROM alert a WHERE a.workspace_id = w.id AND a.kind = $3 AND a.subject = $4
      AND (a.ended_at IS NULL OR a.raised_at > now() - make_interval(hours => $6::int)))
  ON CONFLICT DO NOTHING RETURNING raised_at`;

const deliver = `
  INSERT INTO webhook_delivery (id, webhook_id, workspace_id, event, body)
  VALUES ($1::uuid, $2::uuid, $3::uuid, $4, $5)`;

/**
 * Raises an alert for each new condition, once, by mail and webhooks, and ends alerts whose condition has passed
 * (contract: control-plane/alerts). Any number of processes may do so: an alert is raised in the transaction that
 * queues what it sends, and if two raise the same one, the second writes nothing.
 * @param rates limits that are nearly used up; null: unknown at the moment, so that none of these alerts ends.
 * @throws Error of the database; alerts raised before stay raised.
 */
export async function tellAlerts(pool: Pool, nowMs: number, rates: Found[] | null = null): Promise<void> {
  const found = [...(await findConditions(pool, nowMs)), ...(rates ?? [])];
  const { rows: open } = await pool.query<{ id: string; name: string; rate: boolean }>(
    `SELECT id::text AS id, workspace_id::text || ' ' || kind || ' ' || subject AS name,
       starts_with(subject, $1) AS rate FROM alert WHERE ended_at IS NULL`,
    [rateSubject],
  );
  const known = new Set(open.map(({ name }) => name));
  const holds = new Set(found.map(nameOf));
  for (const one of found) {
    if (!known.has(nameOf(one))) await transact(pool, limits, (client) => tell(client, one));
  }
  const passed = open.flatMap(({ id, name, rate }) =>
    holds.has(name) || (rate && rates === null) ? [] : [id],
  );
  if (passed.length > 0) {
    await pool.query('UPDATE alert SET ended_at = now() WHERE id = ANY ($1::uuid[]) AND ended_at IS NULL', [
      passed,
    ]);
  }
}

function nameOf({ workspaceId, kind, subject }: Found): string {
  return `${workspaceId} ${kind} ${subject}`;
}

async function tell(client: PoolClient, { workspaceId, kind, subject, facts }: Found): Promise<void> {
  const id = newRowId();
  const given = [id, workspaceId, kind, subject, JSON.stringify(facts), quietHours[kind]];
  const { rows } = await client.query<{ raised_at: Date }>(raise, given);
  const [raised] = rows;
  if (raised === undefined) return;
  const found = await client.query<{ slug: string; name: string }>(
    'SELECT slug, name FROM workspace WHERE id = $1::uuid',
    [workspaceId],
  );
  const { slug = '', name = '' } = found.rows[0] ?? {};
  if (!ownMail.has(kind)) {
    const mail = { workspace: name, kind, facts: JSON.stringify(facts) };
    const readers: Role[] = forBilling.has(kind) ? ['owner', 'admin', 'billing'] : ['owner', 'admin'];
    await mailMembers(client, workspaceId, readers, {
      kind: 'alert',
      facts: mail,
      lifeSeconds: mailSeconds,
    });
  }
  const body = eventBody({
    id,
    type: `alert.${kind}`,
    at: raised.raised_at.toISOString(),
    workspace: slug,
    data: facts,
  });
  await queueEvent(client, workspaceId, `alert.${kind}`, body);
}

/** Queues a delivery for each enabled webhook of the workspace. */
async function queueEvent(client: PoolClient, workspaceId: string, event: string, body: string) {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id::text AS id FROM webhook WHERE workspace_id = $1::uuid AND enabled',
    [workspaceId],
  );
  for (const { id } of rows) await client.query(deliver, [newRowId(), id, workspaceId, event, body]);
}
