import { isRefusal, type Refusal, refusal } from '#lib/core/errors';
import type { ResourceView, ShownResource } from '#lib/core/facts/resource';
import type { Ask, AskedCache, Operation, RawAsk } from '#lib/core/families/family';
import { contentMediaKeys } from '#lib/core/families/generate-content/ask';
import { isMoment } from '#lib/core/families/generate-content/moment';
import { contentPrefixes } from '#lib/core/families/generate-content/path';
import { readReferences, referenceFields } from '#lib/core/families/generate-content/references';
import { readModel, readText, takeAll } from '#lib/core/families/reading/fields';
import { Figures } from '#lib/core/families/reading/figures';
import { objectIn, textIn } from '#lib/core/families/reading/json';
import { cacheIdIn } from '#lib/core/families/reading/stored-state';
import { weigh } from '#lib/core/families/reading/weight';
import type { Scan } from '#lib/core/families/scan';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';

/** An answer in events would hide what was kept. */
const common = { family: 'generate-content', prefixes: contentPrefixes, query: {} } as const;
const cache = { ...common, path: 'cachedContents/{id}', resource: { kind: 'cache', param: 'id' } } as const;
const lifetime = { ttl: {}, expireTime: { aliases: ['expire_time'] } } as const;

/** Context caches, which a provider keeps for a workspace (contract: batches/caches). */
export const cacheOperations: readonly Operation[] = [
  {
    ...common,
    name: 'content.caches.create',
    method: 'POST',
    path: 'cachedContents',
    steps: 'generate',
    caches: true,
    sameModel: true,
    fields: { ...referenceFields, ...lifetime, model: {} },
  },
  {
    ...common,
    name: 'content.caches.list',
    method: 'GET',
    path: 'cachedContents',
    steps: 'stored',
    fields: null,
    lists: { of: 'cache', order: 'desc', usual: 50, most: 1_000, paging: 'tokens', member: 'cachedContents' },
  },
  { ...cache, name: 'content.caches.retrieve', method: 'GET', steps: 'stored', fields: null },
  {
    ...cache,
    name: 'content.caches.update',
    method: 'PATCH',
    steps: 'generate',
    caches: true,
    sameModel: true,
    fields: lifetime,
    query: { updateMask: true, update_mask: true },
  },
  {
    ...cache,
    name: 'content.caches.delete',
    method: 'DELETE',
    steps: 'stored',
    fields: null,
    resourceEffect: 'delete',
    shows: false,
  },
];

/** Whether an operation is one of these. */
export function isOfCaches({ name }: Operation): boolean {
  return name.startsWith('content.caches.');
}

/** How long a cache lives whose request does not say it, s. */
const USUAL_SECONDS = 3_600;
/** Longest life from a request on, which is paid at once, s. */
const MOST_SECONDS = 7 * 86_400;
/** How long after the gateway has looked at the clock a change may be sent; its hold covers it, s. */
export const SLACK_SECONDS = 60;

/**
 * What a request asks to be kept, and for how long more. Of a change, the path's parameters say until when the cache
 * is paid, and its tokens; of all, what time it is.
 */
export function readCacheAsk(raw: RawAsk): Ask | Refusal {
  const { scan, params } = raw;
  const changes = raw.operation.name === 'content.caches.update';
  const nowMs = Number(params.nowMs);
  const read = takeAll({
    model: changes ? (params.model ?? '') : readCachedModel(scan),
    seconds: readSeconds(scan, nowMs, changes),
    references: readReferences(scan),
  });
  if (isRefusal(read)) return read;
  const { model, seconds, references } = read;
  const paidMs = changes ? Math.max(nowMs, Number(params.untilMs)) : nowMs;
  const more = Math.ceil((nowMs + seconds * 1_000 - paidMs) / 1_000);
  const cache: AskedCache = {
    tokens: changes ? Number(params.tokens) : null,
    seconds: changes ? Math.max(0, more + SLACK_SECONDS) : Math.max(0, more),
    paidMs: changes ? paidMs : null,
  };
  return {
    ...raw,
    model,
    stream: false,
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: weigh(scan, contentMediaKeys, 0),
    cache,
    ...(references.length > 0 ? { references } : {}),
  };
}

/** A slug, or the name of a resource with it: "models/vendor/name". */
function readCachedModel(scan: Scan): string | Refusal {
  const named = readModel(scan);
  return isRefusal(named) ? named : named.replace(/^models\//, '');
}

/** From now on, s. */
function readSeconds(scan: Scan, nowMs: number, changes: boolean): number | Refusal {
  const read = takeAll({ ttl: readText(scan, 'ttl'), expireTime: readText(scan, 'expireTime') });
  if (isRefusal(read)) return read;
  const { ttl, expireTime } = read;
  if (ttl !== null && expireTime !== null) {
    return refusal('invalid_body', 'The body has "ttl" and "expireTime"; send one of them.');
  }
  if (ttl === null && expireTime === null) {
    if (!changes) return USUAL_SECONDS;
    return refusal(
      'invalid_body',
      'Say how long the cache is to live: "ttl", such as "3600s", or "expireTime".',
    );
  }
  const written = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(ttl ?? '')?.[1];
  const endMs = expireTime !== null && isMoment(expireTime) ? Date.parse(expireTime) : Number.NaN;
  const seconds = ttl === null ? (endMs - nowMs) / 1_000 : Number(written ?? Number.NaN);
  if (Number.isNaN(seconds)) {
    return ttl === null
      ? refusal('invalid_body', 'Field "expireTime" must be a time in UTC, such as "2027-01-31T12:00:00Z".')
      : refusal('invalid_body', 'Field "ttl" must be seconds, such as "3600s".');
  }
  if (seconds <= MOST_SECONDS) return seconds;
  return refusal(
    'invalid_body',
    `A cache may live at most 7 days (${MOST_SECONDS} s) from the time of the request; send a shorter time, and extend it later.`,
  );
}

/** What writing and keeping a cache used; null for an answer that is none. */
export function readCacheUsage({ cache }: Ask, answer: unknown): UsageReport | null {
  const told = objectIn(objectIn(answer)?.usageMetadata)?.totalTokenCount ?? null;
  if (!cache || cacheIn(answer) === null || (told === null && cache.tokens === null)) return null;
  const figures = new Figures();
  const written = cache.tokens === null ? figures.read(told, 'input') : 0;
  return {
    usage: usageOf({ input: written }),
    kept: { tokens: cache.tokens ?? written, seconds: paidSeconds(cache, answer) },
    serviceTier: null,
    nested: [],
    ...figures.marks(),
  };
}

/**
 * How long the provider keeps it for this request, s. By how much the end of an older one moved is said by its
 * provider's clock, by which it was paid until now.
 */
function paidSeconds({ paidMs, seconds }: AskedCache, answer: unknown): number {
  const ends = objectIn(answer)?.expireTime;
  if (paidMs === null || !isMoment(ends)) return seconds;
  return Math.min(Math.max(0, Math.ceil((Date.parse(ends) - paidMs) / 1_000)), MOST_SECONDS + SLACK_SECONDS);
}

/** What lists show of a cache. */
const viewed = ['name', 'model', 'displayName', 'createTime', 'updateTime'];

/** The cache that an answer shows; none for an error. */
export function shownCache(answer: unknown): readonly ShownResource[] {
  const body = objectIn(answer);
  const id = cacheIn(answer);
  if (body === null || id === null) return [];
  const view: Record<string, unknown> = {};
  for (const one of viewed) if (typeof body[one] === 'string') view[one] = body[one];
  if (isMoment(body.expireTime)) view.expireTime = body.expireTime;
  const tokens = objectIn(body.usageMetadata)?.totalTokenCount;
  if (typeof tokens === 'number') view.usageMetadata = { totalTokenCount: tokens };
  return [{ kind: 'cache', id, view: view as ResourceView }];
}

/** When a cache ends, ms since the epoch, and its tokens, as its provider says; null: it is none. */
export function standOfCache(answer: unknown): { readonly untilMs: number; readonly tokens: number } | null {
  const body = objectIn(answer);
  if (body === null || cacheIn(answer) === null || !isMoment(body.expireTime)) return null;
  const tokens = objectIn(body.usageMetadata)?.totalTokenCount;
  return { untilMs: Date.parse(body.expireTime), tokens: typeof tokens === 'number' ? tokens : 0 };
}

function cacheIn(answer: unknown): string | null {
  const body = objectIn(answer);
  const name = textIn(body?.name);
  if (body === null || (body.error ?? null) !== null || !name?.startsWith('cachedContents/')) return null;
  return cacheIdIn(name);
}
