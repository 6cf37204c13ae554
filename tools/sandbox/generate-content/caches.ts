import { Collection, type ProviderMemory } from '#tools/sandbox/content/memory';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import {
  type Answer,
  freeOfCharge,
  type Opened,
  type ReceivedRequest,
  type Truth,
} from '#tools/sandbox/dialect';
import { keptName } from '#tools/sandbox/scenario/name';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

interface StoredCache {
  readonly id: string;
  /** With `models/`. */
  readonly model: string;
  readonly displayName: string | null;
  readonly tokens: number;
  readonly createdAtMs: number;
  updatedAtMs: number;
  endsAtMs: number;
}

/** The input of a request, in tokens. */
type Counts = (body: Record<string, unknown>) => number;

const caches = new Collection<StoredCache>();
const path = /^\/cachedContents(?:\/([^/:]+))?$/;
const opened = { model: 'echo', asked: 'echo', stream: false, prompt: '' };
const usualSeconds = 3_600;

/** Whether a request is about context caches. */
export function isOfCaches(method: string, asked: string): boolean {
  const [found, id] = path.exec(asked) ?? [];
  if (found === undefined) return false;
  return id === undefined
    ? method === 'POST' || method === 'GET'
    : ['GET', 'PATCH', 'DELETE'].includes(method);
}

/** Context caches as generativelanguage.googleapis.com keeps them. */
export function openCaches(seen: ReceivedRequest, memory: ProviderMemory, count: Counts): Opened {
  const [, written] = path.exec(seen.path) ?? [];
  if (written === undefined) {
    if (seen.method === 'POST') return create(seen, memory, count);
    return { ...opened, answer: () => whole({ cachedContents: caches.list(memory).map(shown) }) };
  }
  const cache = getCache(memory, decodeURIComponent(written), seen.atMs);
  const model = cache.model.replace(/^models\//, '');
  const kept = { ...opened, model, asked: keptName(model, seen.method) };
  if (seen.method === 'GET') return { ...kept, answer: () => whole(shown(cache)) };
  if (seen.method === 'PATCH') return change(seen, cache, kept);
  return {
    ...kept,
    answer: () => {
      caches.remove(memory, cache.id);
      return whole({});
    },
  };
}

/** The tokens of the cache that a request names. @throws ProviderFault 403 for an unknown one, 400 for another model. */
export function cachedTokens(memory: ProviderMemory, name: string, model: string, atMs: number): number {
  const cache = getCache(memory, name.replace(/^cachedContents\//, ''), atMs);
  if (cache.model === `models/${model}`) return cache.tokens;
  throw new ProviderFault(400, `The cached content is of ${cache.model}, the request of models/${model}.`);
}

function getCache(memory: ProviderMemory, id: string, atMs: number): StoredCache {
  const cache = caches.find(memory, id);
  if (cache && cache.endsAtMs > atMs) return cache;
  throw new ProviderFault(403, 'CachedContent not found (or permission denied)');
}

function create(seen: ReceivedRequest, memory: ProviderMemory, count: Counts): Opened {
  const body = readJson(seen.body, 'Invalid JSON payload received.');
  const { model, displayName } = body;
  if (typeof model !== 'string')
    throw new ProviderFault(400, '* CachedContent.model: model is not specified');
  const tokens = count(body);
  return {
    ...opened,
    model: model.replace(/^models\//, ''),
    asked: model.replace(/^models\//, ''),
    answer: () => {
      const cache: StoredCache = {
        id: seen.id.slice(4, 24),
        model,
        displayName: typeof displayName === 'string' ? displayName : null,
        tokens,
        createdAtMs: seen.atMs,
        updatedAtMs: seen.atMs,
        endsAtMs: endIn(body, seen.atMs) ?? seen.atMs + usualSeconds * 1_000,
      };
      caches.put(memory, cache.id, cache);
      return whole(shown(cache), { ...freeOfCharge, inputTokens: tokens });
    },
  };
}

function change(seen: ReceivedRequest, cache: StoredCache, kept: typeof opened): Opened {
  const end = endIn(readJson(seen.body, 'Invalid JSON payload received.'), seen.atMs);
  if (end === null) throw new ProviderFault(400, '* CachedContent: only ttl and expire_time can be changed');
  return {
    ...kept,
    answer: () => {
      cache.endsAtMs = end;
      cache.updatedAtMs = seen.atMs;
      return whole(shown(cache));
    },
  };
}

function endIn(body: Record<string, unknown>, atMs: number): number | null {
  const { ttl, expireTime } = record(body);
  if (typeof expireTime === 'string') return Date.parse(expireTime);
  return typeof ttl === 'string' ? atMs + Number.parseFloat(ttl) * 1_000 : null;
}

function shown(cache: StoredCache): object {
  const { id, model, displayName, tokens, createdAtMs, updatedAtMs, endsAtMs } = cache;
  return {
    name: `cachedContents/${id}`,
    model,
    ...(displayName === null ? {} : { displayName }),
    createTime: new Date(createdAtMs).toISOString(),
    updateTime: new Date(updatedAtMs).toISOString(),
    expireTime: new Date(endsAtMs).toISOString(),
    usageMetadata: { totalTokenCount: tokens },
  };
}

function whole(body: object, truth: Truth = freeOfCharge): Answer {
  return { truth, content: { kind: 'whole', text: `${JSON.stringify(body, null, 2)}\n`, usage: null } };
}
