import { defaultCredential } from '#lib/core/facts/pool';
import { type Resource, type ResourceView, resourceKinds } from '#lib/core/facts/resource';
import { familyIds } from '#lib/core/families/ids';
import { jsonText } from '#lib/platform/data/json-text';

/** Longest id that is kept, characters: it is part of a key of the database. */
const mostId = 512;

/** Whether the database can store it: ids of providers are untrusted data. */
export function isStorable({ id }: { readonly id: string }): boolean {
  return id.length > 0 && id.length <= mostId && !id.includes('\u0000') && id.isWellFormed();
}

/** Rows of `resource` as one JSON array: what the journal writes and what the drain sends. */
export function resourceRows(resources: readonly Resource[]): string {
  return JSON.stringify(resources.map(rowOf));
}

function rowOf(resource: Resource) {
  return {
    workspace_id: resource.workspaceId,
    kind: resource.kind,
    id: resource.id,
    provider_id: resource.providerId,
    credential: resource.credential,
    family: resource.family,
    model_id: resource.modelId,
    upstream_model: resource.upstreamModel,
    call_id: resource.callId,
    job: resource.job,
    tokens: resource.tokens,
    created_at: new Date(resource.createdAtMs).toISOString(),
    ...(resource.facts === undefined ? {} : { facts: resource.facts }),
    ...(resource.view === undefined || resource.viewedAtMs === undefined
      ? {}
      : {
          view: JSON.parse(jsonText(resource.view)) as ResourceView,
          viewed_at: new Date(resource.viewedAtMs).toISOString(),
        }),
  };
}

/** @throws Error when it is no list that `resourceRows` made. */
export function readResources(value: unknown): readonly Resource[] {
  if (!Array.isArray(value)) throw new Error('a record of resources lacks its list');
  return value.map(readResource);
}

/** A row as JSON or as the database gives it. @throws Error when it lacks what a resource needs. */
export function readResource(value: unknown): Resource {
  if (typeof value !== 'object' || value === null) throw new Error('a row of a resource is no object');
  const row: Readonly<Record<string, unknown>> = Object.fromEntries(Object.entries(value));
  const made = row.created_at;
  return {
    kind: wordOf(resourceKinds, row.kind),
    id: textOf(row.id),
    workspaceId: textOf(row.workspace_id),
    providerId: textOf(row.provider_id),
    // Absent in rows of a version that knew only one for each provider.
    credential: textOf(row.credential ?? defaultCredential),
    family: wordOf(familyIds, row.family),
    modelId: textOf(row.model_id),
    upstreamModel: textOf(row.upstream_model),
    callId: textOf(row.call_id),
    job: row.job === true,
    tokens: Number(row.tokens ?? 0),
    createdAtMs: made instanceof Date ? made.getTime() : Date.parse(textOf(made)),
    ...factsIn(row),
    ...viewIn(row),
  };
}

/** Plain values, which `resourceRows` wrote. */
function factsIn({ facts }: Readonly<Record<string, unknown>>): Pick<Resource, 'facts'> {
  return typeof facts === 'object' && facts !== null ? { facts: { ...facts } } : {};
}

/** Only rows of the journal have it: look-ups do not read it. */
function viewIn({ view, viewed_at: at }: Readonly<Record<string, unknown>>): Partial<Resource> {
  if (typeof view !== 'object' || view === null || typeof at !== 'string') return {};
  return { view: Object.fromEntries(Object.entries(view)), viewedAtMs: Date.parse(at) };
}

/** @throws Error when it is none of the known words. */
export function wordOf<Word extends string>(known: readonly Word[], value: unknown): Word {
  const found = known.find((word) => word === value);
  if (found === undefined) throw new Error(`unknown word "${String(value)}" in a record`);
  return found;
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new Error('a row of a resource lacks a string');
  return value;
}
