import type { Call } from '#generated/client';
import { isOperator } from '#lib/control/operations/actor';
import { readContentTimes } from '#lib/control/operations/call/content-kept';
import { type CallDetail, callDetail, priceVersionOf } from '#lib/control/operations/call/detail';
import { readFeedback } from '#lib/control/operations/call/feedback';
import { findIds, type Ranked, rankIds, type Search } from '#lib/control/operations/call/search';
import { readTags } from '#lib/control/operations/call/tags';
import type { Context } from '#lib/control/operations/declare';
import { isUuid } from '#lib/control/operations/field/kinds';
import { type ControlRefused, notFound, quoted } from '#lib/control/operations/refusal';
import { inScope } from '#lib/control/operations/scope';
import type { Store } from '#lib/control/operations/store';
import { keptFromId } from '#lib/control/retention/weeks';
import { may } from '#lib/core/role';

type Reading = Pick<Context<'subject'>, 'scope' | 'actor' | 'role' | 'sealingKey' | 'nowMs'> & {
  readonly store: Store;
};

/** One call of the scope by its request id (contract: call-log/row). @throws ControlRefused not_found. */
export async function getCall(context: Reading, id: string): Promise<CallDetail> {
  const [found] = isUuid(id) ? await readCalls(context, [id]) : [];
  if (found) return found;
  throw noCall(id);
}

/** The refusal of an id that is no call of the scope. */
export function noCall(id: string): ControlRefused {
  const advice = 'use the X-Request-Id of the answer (a call appears within 2 seconds)';
  return notFound(`there is no call ${quoted(id)}; ${advice}`, 'id');
}

/**
 * A page of the scope's calls, newest first; a keyset by id, so that a page stays the same while calls
 * arrive. A page of a search that looked at many calls may have fewer rows than requested and still have a next page.
 */
export async function pageOfCalls(
  context: Context<'workspace'>,
  search: Search,
  limit: number,
): Promise<{ data: CallDetail[]; next: string | null }> {
  const { store, scope, nowMs } = context;
  const { ids, next } = await findIds(store, scope, nowMs, { ...search, limit });
  return { data: await readCalls(context, ids), next };
}

/** A page of the calls with the largest or smallest figure, and which were looked at. */
export async function pageOfRanked(
  context: Context<'workspace'>,
  search: Search & { readonly sort: string },
  limit: number,
): Promise<{ data: CallDetail[]; next: string | null; ranked: Ranked }> {
  const { store, scope, nowMs } = context;
  const { ids, ...page } = await rankIds(store, scope, nowMs, { ...search, limit });
  return { data: await readCalls(context, ids), ...page };
}

/**
 * Calls of the scope by their ids, in the order of the ids; missing ones are left out, as are those that their
 * workspace no longer keeps, though they may not be deleted yet.
 */
async function readCalls(
  { store, scope, actor, role, sealingKey, nowMs }: Reading,
  ids: readonly string[],
): Promise<CallDetail[]> {
  if (ids.length === 0) return [];
  const where = { callId: { in: [...ids] } };
  // The calls first: what was committed together with a call that is found is then found too.
  const calls = await store.prisma.call.findMany({ where: { ...inScope(scope), id: { in: [...ids] } } });
  const [jobs, adjustments] = await Promise.all([
    store.prisma.job.findMany({ where }),
    store.prisma.adjustment.findMany({ where }),
  ]);
  const { keys, workspaces } = await readNames(store, calls);
  const jobOf = new Map(jobs.map((job) => [job.callId, job]));
  const priced = calls.flatMap((call) => priceVersionOf(call, jobOf.get(call.id) ?? null) ?? []);
  const pricesSince = await readPricesSince(store, priced);
  const contentTimes = await readContentTimes(store, ids, nowMs);
  const opens = role !== null && may(role, 'content:read') ? sealingKey : null;
  const feedback = await readFeedback(
    store,
    calls.map((call) => call.id),
    opens,
  );
  const tags = await readTags(
    store,
    calls.map((call) => call.id),
  );
  const byId = new Map(calls.map((call) => [call.id, call]));
  const adjustmentOf = new Map(adjustments.map((one) => [one.callId, one]));
  return ids.flatMap((id) => {
    const call = byId.get(id);
    if (!call) return [];
    const workspace = workspaces.get(call.workspaceId);
    const { retentionDays = null } = workspace ?? {};
    if (retentionDays !== null && id < keptFromId(nowMs, retentionDays)) return [];
    const names = {
      workspaceSlug: workspace?.slug ?? null,
      keyName: keys.get(call.keyId)?.name ?? null,
      toOperator: isOperator(actor),
      contentUntil: contentTimes.get(id) ?? null,
      feedback: feedback.get(id) ?? null,
      tags: tags.get(id) ?? [],
      pricesSince,
      playground: (keys.get(call.keyId)?.sessionId ?? null) !== null,
    };
    const [job, adjustment] = [jobOf.get(id) ?? null, adjustmentOf.get(id) ?? null];
    return callDetail(call, job, adjustment, names);
  });
}

async function readPricesSince({ prisma }: Store, versions: readonly string[]): Promise<Map<string, Date>> {
  const rows = await prisma.priceVersion.findMany({
    where: { id: { in: [...new Set(versions)] } },
    select: { id: true, effectiveAt: true },
  });
  return new Map(rows.map(({ id, effectiveAt }) => [id, effectiveAt]));
}

async function readNames({ prisma }: Store, calls: readonly Call[]) {
  const keyIds = [...new Set(calls.map((call) => call.keyId))];
  const workspaceIds = [...new Set(calls.map((call) => call.workspaceId))];
  const [keys, workspaces] = await Promise.all([
    prisma.apiKey.findMany({
      where: { id: { in: keyIds } },
      select: { id: true, name: true, sessionId: true },
    }),
    prisma.workspace.findMany({
      where: { id: { in: workspaceIds } },
      select: { id: true, slug: true, retentionDays: true },
    }),
  ]);
  return {
    keys: new Map(keys.map((key) => [key.id, key])),
    workspaces: new Map(workspaces.map((workspace) => [workspace.id, workspace])),
  };
}
