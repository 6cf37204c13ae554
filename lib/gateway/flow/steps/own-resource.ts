import { isRefusal, type Refusal, Refused, refusal, unaccountable } from '#lib/core/errors';
import type { Resource, ResourceKind } from '#lib/core/facts/resource';
import type { Ask, Operation } from '#lib/core/families/family';
import { dropFindings, type Scan } from '#lib/core/families/scan';
import {
  type AskedCall,
  type AuthenticatedCall,
  extendCall,
  type FamilyCall,
  type StoredCall,
} from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { readBody } from '#lib/gateway/flow/upload/read-body';

type NamedResource = NonNullable<Operation['resource']>;

/**
 * What a path names must be the workspace's own (contract: jobs/ownership): checked before the body is read, and
 * before anything is counted. From here on the call is bound to who keeps it.
 * @throws Refused `not_found`.
 */
export async function ownResource(
  runtime: Runtime,
  call: FamilyCall,
  { kind, param }: NamedResource,
): Promise<StoredCall> {
  const resource = await findOwned(runtime, call, kind, call.params[param] ?? '');
  if (!resource || resource.family !== call.family.id) throw new Refused(unknown(kind));
  return extendCall(call, { resource, pinned: resource });
}

/** A remix takes its model, and length and size as far as they are known, from its source (contract: jobs/remix). */
export async function remixOf(runtime: Runtime, call: StoredCall): Promise<StoredCall> {
  const made = await madeOf(runtime, call, call.resource);
  return extendCall(call, { params: { ...made, ...call.params, model: call.resource.modelId } });
}

/**
 * The ask of a stored operation follows from the resource that its path names. A body is only checked for what it
 * refers to, and sent as it is.
 * @throws Refused `invalid_body`.
 */
export async function askOfStored(runtime: Runtime, call: StoredCall): Promise<StoredCall & AskedCall> {
  const { operation, arrival, snapshot, family, params } = call;
  if (operation.fields === null) return extendCall(call, { ask: askFor(call, noBody) });
  const scan = await readBody(runtime, arrival, operation, snapshot.key.id);
  const ask = askFor(call, scan);
  const read = family.readStored?.({ operation, params, scan }) ?? {};
  dropFindings(scan);
  if (isRefusal(read)) throw new Refused(read);
  return extendCall(call, { ask: { ...ask, ...read } });
}

/** What is known of the job that a remix starts from; nothing when that cannot be read: its hold is then larger. */
async function madeOf(
  runtime: Runtime,
  call: StoredCall,
  { job, callId }: Resource,
): Promise<StoredCall['params']> {
  if (!job || !runtime.jobs) return {};
  try {
    const facts = Object.entries((await runtime.jobs.made(callId)) ?? {});
    return Object.fromEntries(facts.map(([name, value]) => [name, String(value)]));
  } catch (error) {
    runtime.report(error, call.id);
    return {};
  }
}

/** @throws Refused `local_quota_not_configured` when it cannot be looked up now. */
export async function findOwned(
  runtime: Runtime,
  call: AuthenticatedCall,
  kind: ResourceKind,
  id: string,
): Promise<Resource | null> {
  try {
    if (!runtime.resources) throw new Error('this process keeps no resources');
    return await runtime.resources.find(call.snapshot.workspace.id, kind, id);
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot look up stored resources right now'));
  }
}

/** 404, which does not reveal whether it never existed, is gone, or belongs to another workspace. */
export function unknown(kind: ResourceKind): Refusal {
  return refusal(
    'not_found',
    `This workspace has no ${kind} with that id; use one that appeared in an answer in the last 30 days and has not been deleted.`,
  );
}

function askFor({ operation, params, query, resource }: StoredCall, scan: Scan): Ask {
  return {
    operation,
    params,
    model: resource.modelId,
    stream: query.includes('stream') && new URLSearchParams(query).get('stream') === 'true',
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 },
    scan,
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
