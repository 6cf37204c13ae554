import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { ResourceReference } from '#lib/core/facts/resource';
import { wrongType } from '#lib/core/families/reading/fields';
import { readFiles } from '#lib/core/families/reading/stored-files';
import type { Found, Scan } from '#lib/core/families/scan';

/** Whole responses that a request names: what it continues, and what its cache is compared with. */
const responsePaths = ['previous_response_id', 'prompt_cache_options.comparison_response_id'];

/**
 * What the provider keeps and the request continues (contract: jobs/pinning): responses, a
 * conversation, items of the input that refer to something at the provider, and containers of tools.
 * @returns `invalid_body` for a name of another type.
 */
export function readReferences(scan: Scan): readonly ResourceReference[] | Refusal {
  const references: ResourceReference[] = [];
  for (const path of responsePaths) {
    const found = scan.found.get(path);
    if (!found) continue;
    if (typeof found.value !== 'string') return wrongType(found, 'a string');
    references.push({ kind: 'response', id: found.value, required: true });
  }
  const outer = scan.found.get('conversation');
  const conversation = outer?.type === 'object' ? scan.found.get('conversation.id') : outer;
  if (conversation) {
    if (typeof conversation.value !== 'string') return wrongType(conversation, 'a string');
    references.push({ kind: 'conversation', id: conversation.value, required: true });
  }
  const files = readFiles(scan);
  if (isRefusal(files)) return files;
  const items = itemsIn(scan);
  return items === null ? tooMany() : [...references, ...items, ...files];
}

/**
 * Where a tool names the container that it shall run in, with all that earlier calls left there; or a
 * call the one that it ran in, where a tool that is left the choice runs again.
 */
const containerPath =
  /^(\[\]\.)?tools\[\]\.(container|environment\.container_id)$|^\[\]\.(environment\.)?container_id$/;

/** A path without the name of the list: a response has an `input`, a conversation `items`. */
function inList(path: string): string {
  return path.replace(/^(input|items)(?=\[\])/, '');
}

/** Each is looked up, so their number is limited; no real request continues more. */
const MOST_ITEMS = 1_000;

/**
 * Items and containers, each once, in the order of the body. Of those that may be unknown, any beyond the limit pin
 * nothing. @returns null when too many must be known.
 */
function itemsIn(scan: Scan): ResourceReference[] | null {
  const references = new Map<string, ResourceReference>();
  let item = newItem();
  for (const found of scan.collected) {
    if (typeof found.value === 'string' && containerPath.test(inList(found.path))) {
      references.set(found.value, { kind: 'item', id: found.value, required: true });
    }
    if (inList(found.path) !== '[]') {
      describes(item, found);
      continue;
    }
    const reference = referenceOf(item);
    if (reference && !references.get(reference.id)?.required) references.set(reference.id, reference);
    item = newItem();
  }
  if (references.size <= MOST_ITEMS) return [...references.values()];
  const known = [...references.values()].filter(({ required }) => required);
  const room = MOST_ITEMS - known.length;
  if (room < 0) return null;
  const sealed = [...references.values()].filter(({ required }) => !required);
  return [...sealed.slice(0, room), ...known];
}

/** The fields of an input item that show whether it refers to state at the provider. */
interface Item {
  id: string | null;
  type: string | null;
  hasRole: boolean;
  hasResult: boolean;
  sealed: boolean;
}

/** Notes one found value of an item. @returns false when it is not one of its own fields. */
function describes(item: Item, { path, value }: Found): boolean {
  switch (inList(path)) {
    case '[].id':
      item.id = typeof value === 'string' ? value : null;
      return true;
    case '[].type':
      item.type = typeof value === 'string' ? value : '';
      return true;
    case '[].role':
      item.hasRole = true;
      return true;
    case '[].result':
      item.hasResult = true;
      return true;
    case '[].encrypted_content':
      item.sealed = true;
      return true;
    default:
      return false;
  }
}

function newItem(): Item {
  return { id: null, type: null, hasRole: false, hasResult: false, sealed: false };
}

/** What to keep of an item: all of it if it refers to state at the provider, else only tools and containers. */
export function keptOfItem(found: readonly Found[]): readonly Found[] {
  const item = newItem();
  let own = 0;
  for (const one of found) if (describes(item, one)) own += 1;
  if (referenceOf(item)) return found;
  return own === found.length ? nothing : found.filter((one) => !describes(item, one));
}

const nothing: readonly Found[] = [];

/**
 * An item that says nothing but its id is what the provider keeps under it; encrypted reasoning and
 * compactions are only readable where they were made; all others carry what they say.
 */
function referenceOf({ id, type, hasRole, hasResult, sealed }: Item): ResourceReference | null {
  if (id === null) return null;
  if (sealed) return { kind: 'item', id, required: false };
  const called = type ?? (hasRole ? 'message' : 'item_reference');
  const kept =
    called === 'item_reference' ||
    called === 'reasoning' ||
    (called === 'image_generation_call' && !hasResult);
  return kept ? { kind: 'item', id, required: true } : null;
}

function tooMany(): Refusal {
  return refusal(
    'invalid_body',
    `The input refers to over ${MOST_ITEMS} items by their ids; send fewer, or send their content.`,
  );
}
