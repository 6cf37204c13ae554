import type { Call, Prisma } from '#generated/client';
import type { Db } from '#lib/data/db';
import { type CallDetail, callDetail } from '#lib/queries/call-detail';

export type { CallDetail } from '#lib/queries/call-detail';

/** What the log may be narrowed by; every field optional. */
export interface CallFilters {
  /** Exact HTTP status, or a class of them. */
  readonly status?: number | '2xx' | '3xx' | '4xx' | '5xx' | undefined;
  /** Requested or answering model. */
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly keyId?: string | undefined;
  /** Arrival, ms since the epoch: [from, to). */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly errorCode?: string | undefined;
  /** First characters of the request id. */
  readonly idPrefix?: string | undefined;
}

export interface CallPage {
  readonly calls: CallDetail[];
  /** Pass as `before` for the next page; null: no more. */
  readonly next: string | null;
}

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * One call by its request id (decisions §13).
 * @param scope `workspaceId` null: the operator, who sees every workspace.
 * @returns null when there is none in that scope; an id that is no UUID finds nothing.
 */
export async function findCall(
  db: Db,
  scope: { workspaceId: string | null; id: string },
): Promise<CallDetail | null> {
  const id = scope.id.trim().toLowerCase();
  if (!uuidShape.test(id)) return null;
  const call = await db.prisma.call.findUnique({ where: { id } });
  if (!call || (scope.workspaceId !== null && call.workspaceId !== scope.workspaceId)) return null;
  return (await withDetails(db, [call]))[0] ?? null;
}

/**
 * Calls, newest first; a keyset by id, so that a page stays the same while calls arrive.
 * @param query `limit` rows, at most 500.
 */
export async function listCalls(
  db: Db,
  query: { workspaceId: string | null; filters?: CallFilters; before?: string | undefined; limit: number },
): Promise<CallPage> {
  const take = Math.max(1, Math.min(500, Math.trunc(query.limit)));
  const where = callWhere(query.filters ?? {}, query.before);
  if (where === null) return { calls: [], next: null };
  if (query.workspaceId !== null) where.push({ workspaceId: query.workspaceId });
  const rows = await db.prisma.call.findMany({
    where: { AND: where },
    orderBy: { id: 'desc' },
    take: take + 1,
  });
  const page = rows.slice(0, take);
  return {
    calls: await withDetails(db, page),
    next: rows.length > take ? (page.at(-1)?.id ?? null) : null,
  };
}

/** Conditions of the filters; null: no call can match. Times become id ranges (UUIDv7), as partitions are. */
function callWhere(filters: CallFilters, before: string | undefined): Prisma.CallWhereInput[] | null {
  const where: Prisma.CallWhereInput[] = [];
  if (before !== undefined) {
    if (!uuidShape.test(before)) return null;
    where.push({ id: { lt: before } });
  }
  if (filters.from !== undefined) where.push({ id: { gte: idAt(filters.from) } });
  if (filters.to !== undefined) where.push({ id: { lt: idAt(filters.to) } });
  if (filters.idPrefix) {
    const hex = filters.idPrefix.toLowerCase().replaceAll('-', '');
    if (!/^[0-9a-f]{1,32}$/.test(hex)) return null;
    where.push({ id: { gte: dashed(hex.padEnd(32, '0')), lte: dashed(hex.padEnd(32, 'f')) } });
  }
  if (filters.keyId) {
    if (!uuidShape.test(filters.keyId)) return null;
    where.push({ keyId: filters.keyId });
  }
  if (typeof filters.status === 'number') where.push({ status: filters.status });
  else if (filters.status) {
    const hundred = Number(filters.status[0]) * 100;
    where.push({ status: { gte: hundred, lt: hundred + 100 } });
  }
  const texts = [filters.model, filters.provider, filters.errorCode];
  // PostgreSQL stores no such character, so nothing matches; asked, it would raise.
  if (texts.some((text) => text?.includes('\0'))) return null;
  if (filters.model) {
    where.push({ OR: [{ requestedModel: filters.model }, { answeringModel: filters.model }] });
  }
  if (filters.provider) where.push({ provider: filters.provider });
  if (filters.errorCode) where.push({ errorCode: filters.errorCode });
  return where;
}

/** The smallest UUIDv7-ordered id of a moment. */
function idAt(ms: number): string {
  const bounded = Math.max(0, Math.min(Math.trunc(ms), 2 ** 48 - 1));
  return dashed(bounded.toString(16).padStart(12, '0').padEnd(32, '0'));
}

function dashed(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

async function withDetails(db: Db, calls: readonly Call[]): Promise<CallDetail[]> {
  if (calls.length === 0) return [];
  const ids = calls.map((call) => call.id);
  const [attempts, jobs, adjustments, keys, workspaces] = await Promise.all([
    db.prisma.attempt.findMany({ where: { callId: { in: ids } }, orderBy: { position: 'asc' } }),
    db.prisma.job.findMany({ where: { callId: { in: ids } } }),
    db.prisma.adjustment.findMany({ where: { callId: { in: ids } } }),
    db.prisma.apiKey.findMany({
      where: { id: { in: [...new Set(calls.map((call) => call.keyId))] } },
      select: { id: true, name: true },
    }),
    db.prisma.workspace.findMany({
      where: { id: { in: [...new Set(calls.map((call) => call.workspaceId))] } },
      select: { id: true, slug: true },
    }),
  ]);
  const keyNames = new Map(keys.map((key) => [key.id, key.name]));
  const slugs = new Map(workspaces.map((workspace) => [workspace.id, workspace.slug]));
  const byCall = Map.groupBy(attempts, (attempt) => attempt.callId);
  const jobOf = new Map(jobs.map((job) => [job.callId, job]));
  const adjustmentOf = new Map(adjustments.map((one) => [one.callId, one]));
  return calls.map((call) => {
    const names = {
      workspaceSlug: slugs.get(call.workspaceId) ?? null,
      keyName: keyNames.get(call.keyId) ?? null,
    };
    const [job, adjustment] = [jobOf.get(call.id) ?? null, adjustmentOf.get(call.id) ?? null];
    return callDetail(call, byCall.get(call.id) ?? [], job, adjustment, names);
  });
}
