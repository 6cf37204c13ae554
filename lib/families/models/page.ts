import { type Refusal, refusal } from '#lib/errors';
import type { ModelFacts } from '#lib/snapshot/snapshot';

/** The largest page of both shapes, as their vendors have it. */
const MOST = 1_000;

/** A part of a list, and whether more stands beyond it in the direction of paging. */
export interface Page {
  readonly models: readonly ModelFacts[];
  readonly more: boolean;
}

/**
 * A page as the messages family asks for it: `limit` (1 to 1,000; silent: all), from behind `after_id` or
 * up to `before_id`.
 * @returns `invalid_body` for values that name no page.
 */
export function sharedPage(models: readonly ModelFacts[], query: URLSearchParams): Page | Refusal {
  const limit = countIn(query, ['limit'], 1);
  const after = placeOf(models, query.get('after_id') || null, 'after_id');
  const before = placeOf(models, query.get('before_id') || null, 'before_id');
  for (const value of [limit, after, before]) if (typeof value === 'object' && value !== null) return value;
  const start = typeof after === 'number' ? after + 1 : 0;
  const end = typeof before === 'number' ? before : models.length;
  const most = typeof limit === 'number' ? limit : MOST_ALL;
  // Without a start the page ends at `before_id`, so what is more stands before it.
  const from = typeof before === 'number' && after === null ? Math.max(0, end - most) : start;
  const to = Math.max(from, Math.min(end, from + most));
  return { models: models.slice(from, to), more: from > start || to < end };
}

/**
 * A page as the generate-content family asks for it: `pageSize` (more than 1,000 count as that; silent or
 * 0: all), from behind `pageToken`.
 */
export function contentPage(
  models: readonly ModelFacts[],
  query: URLSearchParams,
): (Page & { readonly token: string | null }) | Refusal {
  const size = countIn(query, ['pageSize', 'page_size'], 0);
  const given = query.get('pageToken') || query.get('page_token') || null;
  const after = placeOf(models, given && Buffer.from(given, 'base64url').toString(), 'pageToken');
  for (const value of [size, after]) if (typeof value === 'object' && value !== null) return value;
  const from = typeof after === 'number' ? after + 1 : 0;
  const to = typeof size === 'number' && size > 0 ? from + size : models.length;
  const page = models.slice(from, to);
  const last = to < models.length ? page.at(-1) : undefined;
  return {
    models: page,
    more: last !== undefined,
    token: last ? Buffer.from(last.id).toString('base64url') : null,
  };
}

const MOST_ALL = Number.MAX_SAFE_INTEGER;

/** A count of the query, at most 1,000; null: silent. */
function countIn(query: URLSearchParams, names: readonly string[], least: number): number | null | Refusal {
  const given = names.map((name) => query.get(name)).find(Boolean);
  if (!given) return null;
  const count = /^\d{1,9}$/.test(given) ? Number(given) : -1;
  if (count >= least) return Math.min(count, MOST);
  return refusal(
    'invalid_body',
    `The query's ${names[0]} must be a whole number from ${least} to ${MOST}; send one.`,
  );
}

/** Where a cursor stands in the list; null: none was given. */
function placeOf(models: readonly ModelFacts[], id: string | null, name: string): number | null | Refusal {
  if (id === null) return null;
  const at = models.findIndex((model) => model.id === id);
  if (at >= 0) return at;
  return refusal('invalid_body', `The query's ${name} is in no page of this list; list it from its start.`);
}
