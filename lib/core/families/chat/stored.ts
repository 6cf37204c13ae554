import { isRefusal, type Refusal } from '#lib/core/errors';
import type { ResourceView, ShownResource } from '#lib/core/facts/resource';
import type { Ask, Operation } from '#lib/core/families/family';
import { readFlag } from '#lib/core/families/reading/fields';
import { type JsonObject, objectIn, textIn } from '#lib/core/families/reading/json';
import { metadataOf, readMetadata } from '#lib/core/families/reading/metadata';
import type { FieldSpec, Scan } from '#lib/core/families/scan';

/** A stored completion (contract: jobs/ownership). */
const stored = {
  family: 'chat',
  prefixes: ['v1'],
  steps: 'stored',
  fields: null,
  resource: { kind: 'completion', param: 'id' },
} as const;

/** What keeps an answer, and the labels by which lists find it. */
export const storeFields: FieldSpec = { store: {}, metadata: {} };

/** The operations on what `store: true` keeps (contract: families/stored-completions). */
export const storedOperations: readonly Operation[] = [
  {
    ...stored,
    name: 'chat.list',
    method: 'GET',
    path: 'chat/completions',
    resource: undefined,
    lists: { of: 'completion', order: 'asc', usual: 20, most: 100, filters: ['model', 'metadata'] },
  },
  { ...stored, name: 'chat.retrieve', method: 'GET', path: 'chat/completions/{id}', shows: false },
  {
    ...stored,
    name: 'chat.update',
    method: 'POST',
    path: 'chat/completions/{id}',
    fields: { metadata: {} },
  },
  {
    ...stored,
    name: 'chat.delete',
    method: 'DELETE',
    path: 'chat/completions/{id}',
    resourceEffect: 'delete',
    shows: false,
  },
  {
    ...stored,
    name: 'chat.messages',
    method: 'GET',
    path: 'chat/completions/{id}/messages',
    shows: false,
    query: { after: true, limit: true, order: true },
  },
];

/** @returns null: nothing of the answer is kept; `invalid_body` for a `store` that is neither true nor false. */
export function readStore(scan: Scan): Ask['stored'] | null | Refusal {
  const store = readFlag(scan, 'store');
  if (isRefusal(store)) return store;
  return store ? { metadata: readMetadata(scan) } : null;
}

/** The completion that an answer or a chunk shows, if the provider keeps it. */
export function storedIn(
  { name }: Operation,
  answer: unknown,
  stored: Ask['stored'],
): readonly ShownResource[] {
  const updates = name === 'chat.update';
  if (!stored && !updates) return [];
  const body = objectIn(answer);
  const id = textIn(body?.id);
  if (body === null || id === null || (body.error ?? null) !== null) return [];
  const metadata = updates ? metadataOf(body.metadata) : (stored?.metadata ?? {});
  return [{ kind: 'completion', id, view: viewOf(body, id, metadata) }];
}

/** A list shows what finds a completion; its content is read by its id. */
function viewOf({ created, model }: JsonObject, id: string, metadata: ResourceView): ResourceView {
  return {
    id,
    object: 'chat.completion',
    created: typeof created === 'number' ? created : null,
    model: textIn(model),
    metadata,
    choices: [],
  };
}
