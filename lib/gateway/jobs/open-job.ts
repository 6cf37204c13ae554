import type { Pool, PoolClient } from 'pg';
import type { NewJob } from '#lib/core/facts/job';
import { simulatedProvider } from '#lib/core/simulated';
import { jsonText } from '#lib/gateway/jobs/json-text';
import { repeatable } from '#lib/platform/data/transaction/repeatable';

/**
 * A provider that takes a request for a repeated one (`idempotency-key`) shows the job that it began for
 * the first: that one stays as it is. Their memory for keys is a day at most; ids may come again later.
 */
const keepResource = `
  INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id, job, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, true, $9)
  ON CONFLICT (workspace_id, kind, id) DO UPDATE SET provider_id = excluded.provider_id,
    family = excluded.family, model_id = excluded.model_id, upstream_model = excluded.upstream_model,
    call_id = excluded.call_id, job = true, created_at = excluded.created_at, deleted_at = NULL
  WHERE NOT (resource.job AND resource.provider_id = excluded.provider_id AND resource.deleted_at IS NULL
    AND resource.created_at > excluded.created_at - interval '1 day')`;

const insertJob = `
  INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id,
    upstream_model, offer_id, price_version_id, hold_nano, facts, state, view, created_at, next_poll_at, flags)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, '{}')
  ON CONFLICT (call_id) DO NOTHING`;

const insertHold = `
  INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at, simulated)
  VALUES ($1, NULL, $2, $3, $4, $5, $6)`;

/**
 * Writes a job, its resource and its hold in one transaction (contract: jobs/jobs): from now on the hold
 * has no owner and outlives every process. Idempotent by call id; a job that another call has opened
 * already stays that call's.
 * @param nextPollAtMs since the epoch.
 * @throws when the database cannot be asked, after some tries.
 */
export function openJob(pool: Pool, job: NewJob, nextPollAtMs: number): Promise<void> {
  return repeatable(pool, async (client) => {
    const known = await client.query('SELECT 1 FROM job WHERE call_id = $1', [job.callId]);
    if (known.rowCount) return;
    const kept = await client.query(keepResource, [
      job.workspaceId,
      job.kind,
      job.id,
      job.providerId,
      job.family,
      job.modelId,
      job.upstreamModel,
      job.callId,
      new Date(job.createdAtMs),
    ]);
    if (kept.rowCount === 0) return;
    const hold = await takeHold(client, job);
    await client.query(insertJob, [
      job.callId,
      job.workspaceId,
      job.keyId,
      job.family,
      job.kind,
      job.id,
      job.providerId,
      job.modelId,
      job.upstreamModel,
      job.offerId,
      job.priceVersionId,
      hold.amountNano,
      jsonText(job.facts),
      job.sight.state,
      job.sight.view === null ? null : jsonText(job.sight.view),
      hold.admittedAt,
      new Date(nextPollAtMs),
    ]);
  });
}

/** The call's hold becomes the job's; its spend will count where the hold did, at the admission. */
async function takeHold(client: PoolClient, job: NewJob): Promise<{ amountNano: string; admittedAt: Date }> {
  const { rows } = await client.query<{ amount: string; admitted_at: Date }>(
    'UPDATE hold SET owner_id = NULL WHERE call_id = $1 RETURNING amount_nano::text AS amount, admitted_at',
    [job.callId],
  );
  const [row] = rows;
  if (row) return { amountNano: row.amount, admittedAt: row.admitted_at };
  // Another process took this one for dead and closed its holds: it is made anew, under the workspace's
  // lock as every hold.
  await client.query('SELECT 1 FROM workspace WHERE id = $1 FOR NO KEY UPDATE', [job.workspaceId]);
  const made = { amountNano: `${job.holdNano}`, admittedAt: new Date(job.createdAtMs) };
  const { callId, workspaceId, keyId } = job;
  const simulated = job.providerId === simulatedProvider;
  await client.query(insertHold, [callId, workspaceId, keyId, made.amountNano, made.admittedAt, simulated]);
  return made;
}
