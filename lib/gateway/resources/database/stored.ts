import type { Pool, PoolClient } from 'pg';
import {
  lastingKinds,
  type Resource,
  type ResourcePage,
  type ResourceView,
  type ShownResource,
} from '#lib/core/facts/resource';
import { keptMs, nameOf, type ResourceName } from '#lib/gateway/resources/resources';
import { isStorable, readResource, resourceRows } from '#lib/gateway/resources/row';
import type { KeepEntry } from '#lib/gateway/settlement/pure/entry';
import { publish } from '#lib/platform/data/change';
import { jsonText } from '#lib/platform/data/json-text';
import { queryWithin } from '#lib/platform/data/query-within';
import { transact } from '#lib/platform/data/transaction/transaction';

/** Every look-up is scoped by workspace. What a job used is known when it has ended. */
const readStatement = `
  SELECT r.workspace_id, r.kind, r.id, r.provider_id, r.credential, r.family, r.model_id, r.upstream_model, r.call_id, r.job,
    greatest(r.tokens, coalesce((j.usage->>'input')::numeric + (j.usage->>'cachedInput')::numeric
      + (j.usage->>'cacheWrite5m')::numeric + (j.usage->>'cacheWrite1h')::numeric
      + (j.usage->>'output')::numeric, 0)) AS tokens, r.created_at, r.facts
  FROM unnest($1::uuid[], $2::text[], $3::text[]) AS asked (workspace_id, kind, id)
  JOIN resource r USING (workspace_id, kind, id)
  LEFT JOIN job j ON r.job AND j.call_id = r.call_id
  WHERE r.deleted_at IS NULL AND (r.kind = ANY ($5) OR r.created_at > now() - $4 * interval '1 millisecond')`;

/** Those of `names` that are there: not deleted, at most 30 days old. */
export async function readResources(
  pool: Pool,
  names: readonly ResourceName[],
): Promise<readonly Resource[]> {
  const { rows } = await pool.query(readStatement, [
    names.map(({ workspaceId }) => workspaceId),
    names.map(({ kind }) => kind),
    names.map(({ id }) => id),
    keptMs,
    lastingKinds,
  ]);
  return rows.map(readResource);
}

const claimedStatement = `
  SELECT DISTINCT r.kind, r.id FROM resource r JOIN unnest($2::text[], $3::text[]) AS asked (kind, id)
    ON r.id = asked.id AND r.kind = asked.kind WHERE r.workspace_id <> $1`;

/** Those of `shown` that no other workspace has or had. */
export async function unclaimedResources(
  pool: Pool,
  workspaceId: string,
  shown: readonly ShownResource[],
): Promise<readonly ShownResource[]> {
  const asked = shown.filter(isStorable);
  if (asked.length === 0) return [];
  const { rows } = await pool.query<ShownResource>(claimedStatement, [
    workspaceId,
    asked.map(({ kind }) => kind),
    asked.map(({ id }) => id),
  ]);
  const claimed = new Set(rows.map(({ kind, id }) => nameOf(workspaceId, kind, id)));
  return asked.filter(({ kind, id }) => !claimed.has(nameOf(workspaceId, kind, id)));
}

/** Its row may still wait in a journal: then a deleted row is stored here before it arrives. */
const limits = { lockMs: 5_000, statementMs: 5_000 };
const forgetStatement = `
  INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id, job,
    tokens, created_at, credential, deleted_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, now())
  ON CONFLICT (workspace_id, kind, id) DO UPDATE SET deleted_at = coalesce(resource.deleted_at, now())`;

/** Deletes it for every process, in one transaction with its change. */
export async function forgetResource(pool: Pool, resource: Resource): Promise<void> {
  await transact(pool, limits, async (client) => {
    await client.query(forgetStatement, [
      resource.workspaceId,
      resource.kind,
      resource.id,
      resource.providerId,
      resource.family,
      resource.modelId,
      resource.upstreamModel,
      resource.callId,
      resource.job,
      resource.tokens,
      new Date(resource.createdAtMs).toISOString(),
      resource.credential,
    ]);
    await publish(client, [
      { kind: 'resource', subject: nameOf(resource.workspaceId, resource.kind, resource.id) },
    ]);
  });
}

const pageOf = (order: 'asc' | 'desc') => `
  SELECT r.view FROM resource r
  WHERE r.workspace_id = $1 AND r.kind = $2 AND r.family = $3 AND r.deleted_at IS NULL AND r.view IS NOT NULL
    AND r.created_at >= $4 AND coalesce(coalesce(r.view->>'expirationTime', r.view->>'expireTime')::timestamptz > now(), true) AND ($5::jsonb IS NULL OR r.view @> $5::jsonb)
    AND ($6::text IS NULL OR $6 IN (r.model_id, r.upstream_model, r.view->>'model'))
    AND ($7::text IS NULL OR (r.created_at, r.id) ${order === 'asc' ? '>' : '<'} (
      SELECT a.created_at, a.id FROM resource a WHERE a.workspace_id = $1 AND a.kind = $2 AND a.id = $7))
  ORDER BY r.created_at ${order}, r.id ${order} LIMIT $8`;

/** A page with a filter that few entries match may read all of a workspace's. */
const LIST_MS = 10_000;

/** One page of what lists show; of an unknown `after`, nothing (contract: jobs/resource-list). */
export async function listResources(
  pool: Pool,
  workspaceId: string,
  page: ResourcePage,
  sinceMs: number,
): Promise<{ readonly views: readonly ResourceView[]; readonly more: boolean }> {
  const { kind, family, after, limit, order, having, model } = page;
  const storable = [after, model].every((text) => text === null || isStorable({ id: text }));
  if (!storable) return { views: [], more: false };
  const query = queryWithin(pool, LIST_MS);
  const { rows } = await query<{ view: ResourceView }>(pageOf(order), [
    workspaceId,
    kind,
    family,
    new Date(sinceMs),
    having === null ? null : jsonText(having),
    model,
    after,
    limit + 1,
  ]);
  return { views: rows.slice(0, limit).map(({ view }) => view), more: rows.length > limit };
}

/**
 * The first workspace owns it; what comes again may only add what it used, and what lists show if that is newer. A
 * deleted one stays deleted. $1: a JSON array of rows, in which a resource may occur twice.
 */
const newerView = "coalesce(excluded.viewed_at > coalesce(resource.viewed_at, '-infinity'), false)";
const statement = `
  INSERT INTO resource (workspace_id, kind, id, provider_id, family, model_id, upstream_model, call_id, job,
    tokens, created_at, credential, view, viewed_at, facts)
  SELECT DISTINCT ON (workspace_id, kind, id) workspace_id, kind, id, provider_id, family, model_id,
    upstream_model, call_id, job, tokens, created_at, credential, view, viewed_at, facts
  FROM json_to_recordset($1::json) AS r (workspace_id uuid, kind text, id text, provider_id text, family text,
    model_id text, upstream_model text, call_id uuid, job boolean, tokens bigint, created_at timestamptz,
    credential text, view jsonb, viewed_at timestamptz, facts jsonb)
  ORDER BY workspace_id, kind, id, viewed_at DESC NULLS LAST, tokens DESC, created_at
  ON CONFLICT (workspace_id, kind, id) DO UPDATE SET tokens = greatest(resource.tokens, excluded.tokens),
    view = CASE WHEN ${newerView} THEN excluded.view ELSE resource.view END,
    viewed_at = CASE WHEN ${newerView} THEN excluded.viewed_at ELSE resource.viewed_at END
    WHERE resource.tokens < excluded.tokens OR ${newerView}`;

/** Inserts what the journal kept, as part of a settlement; repeated, it changes nothing. */
export async function keepResources(client: PoolClient, entries: readonly KeepEntry[]): Promise<void> {
  await client.query(statement, [rowsOf(entries)]);
}

/** The entries' arrays as one: bytes that the journal wrote, sent as they are. */
function rowsOf(entries: readonly KeepEntry[]): Buffer {
  const pieces: Uint8Array[] = [];
  for (const { row, resources } of entries) {
    const rows = (row ?? Buffer.from(resourceRows(resources))).subarray(1, -1);
    if (rows.length === 0) continue;
    pieces.push(pieces.length === 0 ? opening : comma, rows);
  }
  return Buffer.concat(pieces.length === 0 ? [opening, closing] : [...pieces, closing]);
}

const [opening, comma, closing] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')];
