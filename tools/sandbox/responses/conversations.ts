import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import { type Answer, type Opened, type ReceivedRequest, whole } from '#tools/sandbox/dialect';
import { type KeptItem, readInput } from '#tools/sandbox/responses/input';
import { keptItems, opens } from '#tools/sandbox/responses/kept';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { pageOf } from '#tools/sandbox/wire/page';

/** A conversation that the provider stores for its account; responses that name it read and extend it. */
export interface Conversation {
  readonly id: string;
  readonly createdAtMs: number;
  metadata: unknown;
  items: readonly KeptItem[];
  transcript: string;
  /** What a response that continues it reads again. */
  tokens: number;
}

const conversations = new Collection<Conversation>();
const path = /^\/conversations(?:\/([^/]+)(?:(\/items)(?:\/([^/]+))?)?)?$/;
const mostItems = 20;

export function handlesConversation(method: string, asked: string): boolean {
  const [found, id, items, item] = path.exec(asked) ?? [];
  if (found === undefined) return false;
  if (item !== undefined) return method === 'GET' || method === 'DELETE';
  if (items !== undefined) return method === 'GET' || method === 'POST';
  return id === undefined ? method === 'POST' : ['GET', 'POST', 'DELETE'].includes(method);
}

/** @throws ProviderFault 404 for an unknown id. */
export function getConversation(memory: ProviderMemory, id: string): Conversation {
  const found = conversations.find(memory, id);
  if (found) return found;
  throw new ProviderFault(404, `Conversation with id '${id}' not found.`, null, 'conversation');
}

/** Opens a request about a conversation or its items. @throws ProviderFault 404 for an unknown id. */
export function openConversation(seen: ReceivedRequest, memory: ProviderMemory): Opened {
  const [, written, items, item] = path.exec(seen.path) ?? [];
  const kept = written === undefined ? null : getConversation(memory, decodeURIComponent(written));
  const answer = (): Answer => {
    if (kept === null) return whole(shown(create(seen, memory)));
    if (item !== undefined) return oneItem(seen.method, kept, decodeURIComponent(item));
    if (items !== undefined) return seen.method === 'GET' ? listed(kept, seen) : added(seen, memory, kept);
    if (seen.method === 'DELETE') {
      conversations.remove(memory, kept.id);
      return whole({ id: kept.id, object: 'conversation.deleted', deleted: true });
    }
    if (seen.method === 'POST') kept.metadata = metadataIn(readJson(seen.body).metadata);
    return whole(shown(kept));
  };
  return { model: 'echo', asked: 'echo', stream: false, prompt: '', answer };
}

/** Adds what a response read and wrote. */
export function extend(
  conversation: Conversation,
  { items, transcript, tokens }: Pick<Conversation, 'items' | 'transcript' | 'tokens'>,
): void {
  conversation.items = [...conversation.items, ...items];
  conversation.transcript += `${transcript}\n`;
  conversation.tokens += tokens;
}

function create(seen: ReceivedRequest, memory: ProviderMemory): Conversation {
  const { items, metadata } = readJson(seen.body);
  const conversation: Conversation = {
    id: `conv_${seen.id.slice(4)}`,
    createdAtMs: seen.atMs,
    metadata: metadataIn(metadata),
    items: [],
    transcript: '',
    tokens: 0,
  };
  if (items !== undefined && items !== null) addItems(seen, memory, conversation, items);
  conversations.put(memory, conversation.id, conversation);
  return conversation;
}

function added(seen: ReceivedRequest, memory: ProviderMemory, conversation: Conversation): Answer {
  const fresh = addItems(seen, memory, conversation, readJson(seen.body).items);
  return pageOf(
    fresh.map(({ item }) => item),
    new URLSearchParams('order=asc'),
    'asc',
  );
}

function addItems(
  seen: ReceivedRequest,
  memory: ProviderMemory,
  conversation: Conversation,
  given: unknown,
): readonly KeptItem[] {
  if (Array.isArray(given) && given.length > mostItems) {
    throw new ProviderFault(
      400,
      `At most ${mostItems} items can be added at a time.`,
      'array_above_max_length',
      'items',
    );
  }
  const read = readInput(given, {
    item: (id) => keptItems.find(memory, id),
    opens: (sealed) => opens(memory, sealed),
  });
  const items = read.items.map(({ item, tokens }, index) => ({
    item: { ...item, id: item.id ?? `msg_${seen.id.slice(4)}${index}` },
    tokens,
  }));
  for (const one of items) keptItems.put(memory, String(one.item.id), one);
  extend(conversation, { items, transcript: read.transcript, tokens: read.inputTokens });
  return items;
}

function oneItem(method: string, conversation: Conversation, id: string): Answer {
  const found = conversation.items.find(({ item }) => item.id === id);
  if (!found) throw new ProviderFault(404, `Item with id '${id}' not found in conversation.`);
  if (method === 'GET') return whole(found.item);
  conversation.items = conversation.items.filter((one) => one !== found);
  return whole(shown(conversation));
}

function listed({ items }: Conversation, { query }: ReceivedRequest): Answer {
  return pageOf(
    items.map(({ item }) => item),
    query,
    'desc',
  );
}

function shown({ id, createdAtMs, metadata }: Conversation): object {
  return { id, object: 'conversation', created_at: Math.floor(createdAtMs / 1000), metadata };
}

function metadataIn(value: unknown): unknown {
  if (value === undefined || value === null) return {};
  if (typeof value === 'object' && !Array.isArray(value)) return record(value);
  throw new ProviderFault(
    400,
    "Invalid type for 'metadata': expected an object.",
    'invalid_type',
    'metadata',
  );
}
