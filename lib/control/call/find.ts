import type { Call } from '#generated/client';
import { type CallDetail, callDetail } from '#lib/control/call/detail';
import type { Context } from '#lib/control/declare';
import { isUuid } from '#lib/control/field/kinds';
import { notFound, quoted } from '#lib/control/refusal';
import { inScope, type Scope, within } from '#lib/control/scope';
import type { Store } from '#lib/control/store';

/** One call of the scope by its request id (decisions §13). @throws ControlRefused not_found. */
export async function getCall({ store, scope }: Context<'subject'>, id: string): Promise<CallDetail> {
  const [found] = isUuid(id) ? await readCalls(store, scope, [id]) : [];
  if (found) return found;
  const advice = 'take the id from X-Request-Id (a call appears within 2 seconds)';
  throw notFound(`there is no call ${quoted(id)}; ${advice}`, 'id');
}

/**
 * A page of the scope's calls, the newest first; a keyset by id, so that a page stays the same while calls
 * arrive.
 */
export async function pageOfCalls(
  store: Store,
  scope: Scope,
  page: {
    /** Further conditions on `c`; their values are added to those of the statement. */
    conditions(values: unknown[]): string[];
    /** The last id of the page before. */
    readonly after: string | undefined;
    readonly limit: number;
  },
): Promise<{ data: CallDetail[]; next: string | null }> {
  const values: unknown[] = [page.limit + 1];
  const where = [within(scope, 'c.workspace_id', values), ...page.conditions(values)];
  if (page.after !== undefined) where.push(`c.id < $${values.push(page.after)}::uuid`);
  const rows = await store.query<{ id: string }>(
    `SELECT c.id::text AS id FROM call c WHERE ${where.join(' AND ')} ORDER BY c.id DESC LIMIT $1`,
    values,
  );
  const ids = rows.slice(0, page.limit).map((row) => row.id);
  return {
    data: await readCalls(store, scope, ids),
    next: rows.length > page.limit ? (ids.at(-1) ?? null) : null,
  };
}

/** Calls of the scope by their ids, in the order of the ids; those that are not there are left out. */
async function readCalls(store: Store, scope: Scope, ids: readonly string[]): Promise<CallDetail[]> {
  if (ids.length === 0) return [];
  const where = { callId: { in: [...ids] } };
  // The calls first: what was committed with a call that is found is found then too.
  const calls = await store.prisma.call.findMany({ where: { ...inScope(scope), id: { in: [...ids] } } });
  const [jobs, adjustments] = await Promise.all([
    store.prisma.job.findMany({ where }),
    store.prisma.adjustment.findMany({ where }),
  ]);
  const { keyNames, slugs } = await readNames(store, calls);
  const byId = new Map(calls.map((call) => [call.id, call]));
  const jobOf = new Map(jobs.map((job) => [job.callId, job]));
  const adjustmentOf = new Map(adjustments.map((one) => [one.callId, one]));
  return ids.flatMap((id) => {
    const call = byId.get(id);
    if (!call) return [];
    const names = {
      workspaceSlug: slugs.get(call.workspaceId) ?? null,
      keyName: keyNames.get(call.keyId) ?? null,
    };
    const [job, adjustment] = [jobOf.get(id) ?? null, adjustmentOf.get(id) ?? null];
    return callDetail(call, job, adjustment, names);
  });
}

async function readNames({ prisma }: Store, calls: readonly Call[]) {
  const keyIds = [...new Set(calls.map((call) => call.keyId))];
  const workspaceIds = [...new Set(calls.map((call) => call.workspaceId))];
  const [keys, workspaces] = await Promise.all([
    prisma.apiKey.findMany({ where: { id: { in: keyIds } }, select: { id: true, name: true } }),
    prisma.workspace.findMany({ where: { id: { in: workspaceIds } }, select: { id: true, slug: true } }),
  ]);
  return {
    keyNames: new Map(keys.map((key) => [key.id, key.name])),
    slugs: new Map(workspaces.map((workspace) => [workspace.id, workspace.slug])),
  };
}
