import { isRefusal, type Refusal } from '#lib/core/errors';
import type { ShownResource } from '#lib/core/facts/resource';
import type { Ask, Operation, RawAsk } from '#lib/core/families/family';
import { objectIn, textIn } from '#lib/core/families/reading/json';
import { referencesIn } from '#lib/core/families/reading/stored-state';
import { weigh } from '#lib/core/families/reading/weight';
import { createFields } from '#lib/core/families/responses/fields';
import { readReferences } from '#lib/core/families/responses/references';
import { itemsOf } from '#lib/core/families/responses/shown';
import type { FieldSpec } from '#lib/core/families/scan';

const { input, ...others } = createFields;
/** Items are those of an input. */
const itemFields: FieldSpec = { ...(input ? { items: input } : {}), container: others.container ?? {} };

const common = { family: 'responses', prefixes: ['v1'], steps: 'stored', fields: null } as const;
const conversation = { ...common, resource: { kind: 'conversation', param: 'id' } } as const;
const item = {
  ...conversation,
  path: 'conversations/{id}/items/{item}',
  within: { kind: 'item', param: 'item' },
} as const;
const included = { include: true, 'include[]': true } as const;

/** What clients keep of a conversation at its provider (contract: families/conversations). */
export const conversationOperations: readonly Operation[] = [
  {
    ...common,
    name: 'conversations.create',
    method: 'POST',
    path: 'conversations',
    stores: 'conversations',
    fields: itemFields,
  },
  {
    ...conversation,
    name: 'conversations.retrieve',
    method: 'GET',
    path: 'conversations/{id}',
    shows: false,
  },
  {
    ...conversation,
    name: 'conversations.update',
    method: 'POST',
    path: 'conversations/{id}',
    fields: {},
    shows: false,
  },
  {
    ...conversation,
    name: 'conversations.delete',
    method: 'DELETE',
    path: 'conversations/{id}',
    resourceEffect: 'delete',
    shows: false,
  },
  {
    ...conversation,
    name: 'conversations.items.create',
    method: 'POST',
    path: 'conversations/{id}/items',
    fields: itemFields,
    resourceEffect: 'extend',
    repeats: true,
    query: included,
  },
  {
    ...conversation,
    name: 'conversations.items.list',
    method: 'GET',
    path: 'conversations/{id}/items',
    repeats: true,
    query: { ...included, after: true, limit: true, order: true },
  },
  { ...item, name: 'conversations.items.retrieve', method: 'GET', repeats: true, query: included },
  { ...item, name: 'conversations.items.delete', method: 'DELETE', shows: false },
];

/** What the items of a body refer to, and how much they add to the conversation. */
export function readItems({ scan }: RawAsk): Pick<Ask, 'references' | 'weight'> | Refusal {
  const read = readReferences(scan);
  if (isRefusal(read)) return read;
  const references = referencesIn(scan, [], read);
  return isRefusal(references) ? references : { ...references, weight: weigh(scan, mediaKeys, 0) };
}

const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'file_data', 'data', 'result']);

/** What an answer about a conversation shows; null: it is about something else. */
export function shownOfConversation({ name }: Operation, answer: unknown): readonly ShownResource[] | null {
  if (!name.startsWith('conversations.')) return null;
  const body = objectIn(answer);
  if (body === null || (body.error ?? null) !== null) return [];
  if (name === 'conversations.items.retrieve') return itemsOf([body]);
  const id = textIn(body.id);
  if (name !== 'conversations.create') return itemsOf(body.data);
  return id === null ? [] : [{ kind: 'conversation', id }];
}
