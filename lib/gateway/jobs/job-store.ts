import type { Pool, PoolClient } from 'pg';
import { isOwnKeyName, ownKeyName } from '#lib/core/facts/credential';
import type { JobSight, JobState, NewJob } from '#lib/core/facts/job';
import { defaultCredential } from '#lib/core/facts/pool';
import type { ResourceKind } from '#lib/core/facts/resource';
import type { FamilyId } from '#lib/core/families/ids';
import { simulatedProvider } from '#lib/core/simulated';
import type { Ending } from '#lib/gateway/jobs/end';
import { type Settled, settleJob } from '#lib/gateway/jobs/settle-job';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { jsonText } from '#lib/platform/data/json-text';
import { type Query, queryWithin } from '#lib/platform/data/query-within';
import { repeatable } from '#lib/platform/data/transaction/repeatable';

/** A job as its row says. */
export interface StoredJob extends Omit<NewJob, 'sight' | 'keyId' | 'priceVersionId' | 'offerId'> {
  readonly state: JobState;
  readonly view: JobSight['view'];
  /** Polls so far, the one that this row was taken for included. */
  readonly polls: number;
  /** Polls in a row that found nothing. */
  readonly misses: number;
  /** Its hold was released without an end. */
  readonly lost: boolean;
  readonly settled: boolean;
}

/** `StoredJob` as the database answers it. */
const storedColumns = `call_id AS "callId", workspace_id AS "workspaceId", family, kind, upstream_id AS id, provider_id AS "providerId",
  coalesce(credential, '${defaultCredential}') AS credential,
  model_id AS "modelId", upstream_model AS "upstreamModel", hold_nano::text AS "holdNano", facts, state, view,
  created_at AS "createdAt", polls, misses, lost_at IS NOT NULL AS lost, settled_at IS NOT NULL AS settled`;

type StoredRow = Omit<StoredJob, 'holdNano' | 'createdAtMs'> & {
  readonly holdNano: string;
  readonly createdAt: Date;
};

function storedJob({ holdNano, createdAt, ...row }: StoredRow): StoredJob {
  return { ...row, holdNano: BigInt(holdNano), createdAtMs: createdAt.getTime() };
}

/**
 * Where the polls of a job wait together: at its provider or, made by an own key, with those of its workspace, whose
 * address may be slow (contract: jobs/polling).
 */
export function pollPlace(job: Pick<StoredJob, 'providerId' | 'workspaceId' | 'credential'>): string {
  return isOwnKeyName(job.credential) ? ownKeyName(job.workspaceId) : job.providerId;
}

/** `pollPlace` in the database. */
const place = `CASE WHEN credential LIKE '${ownKeyName('')}%' THEN '${ownKeyName('')}' || workspace_id::text ELSE provider_id END`;

/** The rows of one poll round are taken by one process, which claims them: others pass over what is locked. */
const takeDue = `
  WITH due AS MATERIALIZED (
    SELECT call_id FROM job WHERE next_poll_at <= $1 AND ${place} <> ALL ($4::text[])
    ORDER BY next_poll_at LIMIT $3 FOR UPDATE SKIP LOCKED
  )
  UPDATE job SET next_poll_at = $2, polls = polls + 1, polled_by = (SELECT id FROM owner WHERE id = $5::uuid)
  WHERE call_id IN (SELECT call_id FROM due)
  RETURNING ${storedColumns}`;

/** What a process claimed is due when that process is gone (contract: jobs/polling). */
const endClaims = `
  UPDATE job SET next_poll_at = $1, polled_by = NULL
  WHERE polled_by IS NOT NULL AND settled_at IS NULL AND NOT EXISTS (SELECT FROM owner WHERE id = polled_by)`;

const hurry = `
  UPDATE job SET next_poll_at = $2 WHERE call_id = $1 AND settled_at IS NULL AND polled_by IS NULL`;

/** Only while it is claimed by the process that renews it. */
const renew = `
  UPDATE job SET next_poll_at = $3 WHERE call_id = $1 AND settled_at IS NULL AND polled_by IS NOT DISTINCT FROM
    (SELECT id FROM owner WHERE id = $2::uuid)`;

/** The next poll ends the claim. Answers may be read out of order: what runs was queued before, never after. */
const note = `
  UPDATE job SET misses = coalesce($3::int, misses), next_poll_at = coalesce($4::timestamptz, next_poll_at),
    polled_by = CASE WHEN $4::timestamptz IS NULL THEN polled_by END,
    state = CASE WHEN $2::text IS NULL OR (state = 'running' AND $2 = 'queued') THEN state ELSE $2 END,
    view = coalesce($5::jsonb, view)
  WHERE call_id = $1 AND settled_at IS NULL AND ($3::int IS NOT NULL OR $4::timestamptz IS NOT NULL
    OR state IS DISTINCT FROM coalesce($2, state) OR view IS DISTINCT FROM coalesce($5::jsonb, view))`;

const lose = `
  WITH lost AS (
    UPDATE job SET lost_at = $2, next_poll_at = $3, flags = flags || ARRAY['job_lost']
    WHERE call_id = $1 AND settled_at IS NULL AND lost_at IS NULL RETURNING call_id
  )
  DELETE FROM hold WHERE call_id IN (SELECT call_id FROM lost)`;

const pageOf = (order: 'asc' | 'desc') => `
  SELECT view FROM job
  WHERE workspace_id = $1 AND kind = $2 AND family = $6 AND deleted_at IS NULL AND view IS NOT NULL AND created_at >= $5
    AND ($3::uuid IS NULL OR call_id ${order === 'asc' ? '>' : '<'} $3)
  ORDER BY call_id ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $4`;

/** A statement about one job, or a page of them. */
const QUERY_MS = 10_000;

/**
 * A provider that takes a request for a repeated one (`idempotency-key`) shows the job that it began for
 * the first: that one stays as it is. Their memory for keys is a day at most; ids may come again later.
 */
const keepResource = `
  INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id, job, created_at,
    credential)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, true, $9, $10)
  ON CONFLICT (workspace_id, kind, id) DO UPDATE SET provider_id = excluded.provider_id,
    family = excluded.family, model_id = excluded.model_id, upstream_model = excluded.upstream_model,
    call_id = excluded.call_id, credential = excluded.credential, job = true, created_at = excluded.created_at, deleted_at = NULL
  WHERE NOT (resource.job AND resource.provider_id = excluded.provider_id AND resource.deleted_at IS NULL
    AND resource.created_at > excluded.created_at - interval '1 day')`;

const insertJob = `
  INSERT INTO job (call_id, workspace_id, key_id, family, kind, upstream_id, provider_id, model_id,
    upstream_model, offer_id, price_version_id, hold_nano, facts, state, view, created_at, next_poll_at,
    credential, flags)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, '{}')
  ON CONFLICT (call_id) DO NOTHING`;

const insertHold = `
  INSERT INTO hold (call_id, owner_id, workspace_id, key_id, amount_nano, admitted_at, simulated)
  VALUES ($1, NULL, $2, $3, $4, $5, $6)`;

/** Jobs and their money in PostgreSQL. Times are ms since the epoch. */
export class JobStore {
  readonly #pool: Pool;
  readonly #query: Query;
  readonly #charged: (charge: FlaggedCharge) => void;
  readonly #ownerId: string | null;

  /**
   * @param charged receives each settled job that has flags.
   * @param ownerId of this process, whose claims end with it; null: they end only with their time.
   */
  constructor(
    pool: Pool,
    charged: (charge: FlaggedCharge) => void = () => {},
    ownerId: string | null = null,
  ) {
    this.#pool = pool;
    this.#ownerId = ownerId;
    this.#query = queryWithin(pool, QUERY_MS);
    this.#charged = charged;
  }

  /**
   * Writes a job, its resource and its hold in one transaction (contract: jobs/jobs): from now on the hold has no owner
   * and outlives every process. Idempotent by call id; a job that another call has opened already stays that call's.
   * @throws when the database cannot be asked, after some tries.
   */
  open(job: NewJob, nextPollAtMs: number): Promise<void> {
    return repeatable(this.#pool, async (client) => {
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
        job.credential,
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
        job.credential,
      ]);
    });
  }

  async find(callId: string): Promise<StoredJob | null> {
    const { rows } = await this.#query<StoredRow>(`SELECT ${storedColumns} FROM job WHERE call_id = $1`, [
      callId,
    ]);
    return rows[0] ? storedJob(rows[0]) : null;
  }

  /**
   * At most `most` jobs whose poll is due, the oldest first, none of the providers in `busy`: no other process gets them
   * before `leasedUntilMs`, unless this process ends.
   */
  async takeDue(wanted: {
    readonly nowMs: number;
    readonly leasedUntilMs: number;
    readonly most: number;
    readonly busy: readonly string[];
  }): Promise<readonly StoredJob[]> {
    const { nowMs, leasedUntilMs, most, busy } = wanted;
    const { rows } = await this.#query<StoredRow>(takeDue, [
      new Date(nowMs),
      new Date(leasedUntilMs),
      most,
      busy,
      this.#ownerId,
    ]);
    return rows.map(storedJob);
  }

  /** Jobs that processes were asking for when they ended are due now. */
  async endClaims(nowMs: number): Promise<void> {
    await this.#query(endClaims, [new Date(nowMs)]);
  }

  /** An unsettled job is due then, unless a process is asking for it. */
  async hurry(callId: string, atMs: number): Promise<void> {
    await this.#query(hurry, [callId, new Date(atMs)]);
  }

  /** A job that this process asks for stays its own until then. */
  async renew(callId: string, leasedUntilMs: number): Promise<void> {
    await this.#query(renew, [callId, this.#ownerId, new Date(leasedUntilMs)]);
  }

  /** Jobs whose poll is due after `beyondMs` are due now. */
  async hasten(nowMs: number, beyondMs: number): Promise<void> {
    await this.#query('UPDATE job SET next_poll_at = $1 WHERE next_poll_at > $2', [
      new Date(nowMs),
      new Date(beyondMs),
    ]);
  }

  /** What an unsettled job shows now. @param next absent fields stay as they are. */
  async note(
    callId: string,
    next: { readonly sight?: JobSight; readonly misses?: number; readonly nextPollAtMs?: number },
  ): Promise<void> {
    const { sight, misses, nextPollAtMs } = next;
    await this.#query(note, [
      callId,
      sight?.state ?? null,
      misses ?? null,
      nextPollAtMs === undefined ? null : new Date(nextPollAtMs),
      sight?.view ? jsonText(sight.view) : null,
    ]);
  }

  /** Its removal goes to the provider while it is in this state. */
  async noteRemoving(callId: string, state: JobState): Promise<void> {
    await this.#query('UPDATE job SET removing = $2 WHERE call_id = $1 AND settled_at IS NULL', [
      callId,
      state,
    ]);
  }

  /** Releases its hold without an end. */
  async lose(callId: string, atMs: number, nextPollAtMs: number): Promise<boolean> {
    const values = [callId, new Date(atMs), new Date(nextPollAtMs)];
    const released = await repeatable(this.#pool, (client) => client.query(lose, values));
    return released.rowCount === 1;
  }

  /** Ends a job once: its charge and all effects in one transaction, whose time by the database is its end. */
  settle(callId: string, ending: Ending): Promise<Settled> {
    return settleJob(this.#pool, callId, ending, this.#charged);
  }

  /** The client had it removed: lists no longer show it. */
  async markRemoved(callId: string, atMs: number): Promise<void> {
    await this.#query('UPDATE job SET deleted_at = coalesce(deleted_at, $2) WHERE call_id = $1', [
      callId,
      new Date(atMs),
    ]);
  }

  /** @param page `sinceMs`: older ones are no longer kept. */
  async list(
    workspaceId: string,
    kind: ResourceKind,
    page: {
      readonly family: FamilyId;
      readonly after: string | null;
      readonly limit: number;
      readonly order: 'asc' | 'desc';
      readonly sinceMs: number;
    },
  ): Promise<{ readonly views: readonly Readonly<Record<string, unknown>>[]; readonly more: boolean }> {
    const { family, after, limit, order, sinceMs } = page;
    let afterId: string | null = null;
    if (after !== null) {
      const found = await this.#query<{ call_id: string }>(
        'SELECT call_id FROM job WHERE workspace_id = $1 AND kind = $2 AND family = $4 AND upstream_id = $3 ORDER BY call_id DESC LIMIT 1',
        [workspaceId, kind, after, family],
      );
      afterId = found.rows[0]?.call_id ?? null;
      if (afterId === null) return { views: [], more: false };
    }
    const { rows } = await this.#query<{ view: Record<string, unknown> }>(pageOf(order), [
      workspaceId,
      kind,
      afterId,
      limit + 1,
      new Date(sinceMs),
      family,
    ]);
    return { views: rows.slice(0, limit).map((row) => row.view), more: rows.length > limit };
  }
}

/** The call's hold becomes the job's; its spend will count where the hold did, at the admission. */
async function takeHold(client: PoolClient, job: NewJob): Promise<{ amountNano: string; admittedAt: Date }> {
  const { rows } = await client.query<{ amount: string; admitted_at: Date }>(
    `UPDATE hold SET owner_id = NULL, amount_nano = least(amount_nano, $2::bigint) WHERE call_id = $1
     RETURNING amount_nano::text AS amount, admitted_at`,
    [job.callId, `${job.holdNano}`],
  );
  const [row] = rows;
  if (row) return { amountNano: row.amount, admittedAt: row.admitted_at };
  // Another process took this one for dead and closed its holds: the hold is made again, under the workspace's lock
  // as every hold.
  await client.query('SELECT 1 FROM workspace WHERE id = $1 FOR NO KEY UPDATE', [job.workspaceId]);
  const made = { amountNano: `${job.holdNano}`, admittedAt: new Date(job.createdAtMs) };
  const { callId, workspaceId, keyId } = job;
  const simulated = job.providerId === simulatedProvider;
  await client.query(insertHold, [callId, workspaceId, keyId, made.amountNano, made.admittedAt, simulated]);
  return made;
}
