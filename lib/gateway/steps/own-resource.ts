import { type Refusal, Refused, refusal, unaccountable } from '#lib/errors';
import type { Ask } from '#lib/families/family';
import type { Scan } from '#lib/families/scan';
import type { Call } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import type { Resource, ResourceKind } from '#lib/resources/resource';

/**
 * What a path names must be the workspace's own (contract: jobs/ownership): checked before the body is read, and
 * before anything is counted. From here on the call is bound to who keeps it; a remix has its model
 * from there (and what is known of its length and size), and a stored operation all that it asks for.
 * @throws Refused `not_found`.
 */
export async function ownResource(runtime: Runtime, call: Call): Promise<void> {
  const { operation, family, snapshot, params } = call;
  if (!operation?.resource || !snapshot) return;
  const { kind, param } = operation.resource;
  const resource = await findOwned(runtime, call, kind, params[param] ?? '');
  if (!resource || resource.family !== family?.id) throw new Refused(unknown(kind));
  call.resource = resource;
  call.pinned = resource.providerId;
  if (operation.steps === 'stored') call.ask = askFor(call, resource);
  else call.params = { ...(await madeOf(runtime, call, resource)), ...params, model: resource.modelId };
}

/** What the job is that another one is made of; nothing when nobody can tell: its hold is then larger. */
async function madeOf(runtime: Runtime, call: Call, { job, callId }: Resource): Promise<Call['params']> {
  if (!job || !runtime.jobs) return {};
  try {
    const facts = Object.entries((await runtime.jobs.made(callId)) ?? {});
    return Object.fromEntries(facts.map(([name, value]) => [name, String(value)]));
  } catch (error) {
    runtime.report(error, call.id);
    return {};
  }
}

/** @throws Refused `local_quota_not_configured` when nobody can tell now. */
export async function findOwned(
  runtime: Runtime,
  call: Call,
  kind: ResourceKind,
  id: string,
): Promise<Resource | null> {
  try {
    if (!runtime.resources) throw new Error('this process keeps no resources');
    return await runtime.resources.find(call.snapshot?.workspace.id ?? '', kind, id);
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot look up what providers keep for the workspace now'));
  }
}

/** 404, which does not reveal whether it never existed, is gone, or belongs to another workspace. */
export function unknown(kind: ResourceKind): Refusal {
  return refusal(
    'not_found',
    `This workspace has no ${kind} with that id; use one that appeared in an answer of the last 30 days and was not deleted.`,
  );
}

function askFor(call: Call, resource: Resource): Ask | null {
  const { operation, params, query } = call;
  if (!operation) return null;
  return {
    operation,
    params,
    model: resource.modelId,
    stream: query.includes('stream') && new URLSearchParams(query).get('stream') === 'true',
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 },
    scan: noBody,
  };
}

const noBody: Scan = {
  body: new Uint8Array(),
  root: { start: 0, end: 0, empty: true },
  found: new Map(),
  nulls: new Map(),
  collected: [],
  longStrings: [],
};
