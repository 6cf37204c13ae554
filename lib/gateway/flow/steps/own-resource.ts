import { isRefusal, type Refusal, Refused, refusal, unaccountable } from '#lib/core/errors';
import type { Resource, ResourceKind, Resources } from '#lib/core/facts/resource';
import type { Ask, Operation } from '#lib/core/families/family';
import { wrongType } from '#lib/core/families/reading/fields';
import { dropFindings, noScan, type Scan } from '#lib/core/families/scan';
import {
  type AskedCall,
  type AuthenticatedCall,
  extendCall,
  type FamilyCall,
  type StoredCall,
} from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { leftBytes } from '#lib/gateway/flow/steps/resumable-upload';
import { readBody, readPart } from '#lib/gateway/flow/upload/read-body';

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
  await ownWithin(runtime, call);
  return extendCall(call, { resource, pinned: resource });
}

/**
 * What the path names inside of it may be unknown, since its provider does not show everything at once; but what
 * another workspace has is not found.
 */
async function ownWithin(runtime: Runtime, call: FamilyCall): Promise<void> {
  const { within } = call.operation;
  if (!within) return;
  const { kind } = within;
  const id = call.params[within.param] ?? '';
  if (await findOwned(runtime, call, kind, id)) return;
  const free = await lookUp(runtime, call, (resources) =>
    resources.unclaimed(call.snapshot.workspace.id, [{ kind, id }]),
  );
  if (free.length === 0) throw new Refused(unknown(kind));
}

/** A remix takes its model, and length and size as far as they are known, from its source (contract: jobs/remix). */
export async function remixOf<Stage extends StoredCall>(runtime: Runtime, call: Stage): Promise<Stage> {
  const made = await madeOf(runtime, call, call.resource);
  return extendCall(call, { params: { ...made, ...call.params, model: call.resource.modelId } });
}

/**
 * What the body starts from must be the workspace's own; from here on the call is one about it, as if the path named it.
 * @throws Refused `not_found`, `invalid_body`.
 */
export async function fromSource<Stage extends FamilyCall>(
  runtime: Runtime,
  call: Stage,
  { found }: Pick<Scan, 'found'>,
): Promise<Stage> {
  const { source } = call.operation;
  const named = source && found.get(source.field);
  if (!source || !named) return call;
  if (typeof named.value !== 'string') throw new Refused(wrongType(named, 'a string'));
  const resource = await findOwned(runtime, call, source.kind, named.value);
  if (!resource || resource.family !== call.family.id) throw new Refused(unknown(source.kind));
  return remixOf(runtime, extendCall(call, { resource, pinned: resource }));
}

/**
 * The ask of a stored operation follows from the resource that its path names. A body is only checked for what it
 * refers to, and sent as it is.
 * @throws Refused `invalid_body`.
 */
export async function askOfStored<Stage extends FamilyCall>(
  runtime: Runtime,
  call: Stage,
): Promise<Stage & AskedCall> {
  const { operation, arrival, snapshot, family, params } = call;
  if (operation.fields === null) return extendCall(call, { ask: askFor(call, noScan) });
  const { ticket } = call;
  const scan = ticket
    ? await readPart(runtime, arrival, leftBytes(arrival, ticket), snapshot.key.id)
    : await readBody(runtime, arrival, operation, snapshot.key.id);
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
  return lookUp(runtime, call, (resources) => resources.find(call.snapshot.workspace.id, kind, id));
}

async function lookUp<Found>(
  runtime: Runtime,
  call: AuthenticatedCall,
  ask: (resources: Resources) => Found | Promise<Found>,
): Promise<Found> {
  try {
    if (!runtime.resources) throw new Error('this process keeps no resources');
    return await ask(runtime.resources);
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot look up stored resources right now'));
  }
}

/** 404, which does not reveal whether it never existed, is gone, or belongs to another workspace. */
export function unknown(kind: ResourceKind): Refusal {
  return refusal(
    'not_found',
    kind === 'cache'
      ? 'This workspace has no cache with that id, or it has expired; create it again.'
      : `This workspace has no ${kind} with that id; use one that appeared in an answer in the last 30 days and has not been deleted.`,
  );
}

function askFor({ operation, params, query, resource }: FamilyCall, scan: Scan): Ask {
  return {
    operation,
    params,
    model: resource?.modelId ?? '',
    stream: query.includes('stream') && new URLSearchParams(query).get('stream') === 'true',
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: { textBytes: 0, images: 0, audioVideoBytes: 0, fileBytes: 0, searchTools: 0 },
    scan,
  };
}
