import { type Refusal, refusal } from '#lib/core/errors';
import type { ModelFacts } from '#lib/core/facts/snapshot';

/** Largest page of both families, models; the same as their vendors allow. */
const MOST = 1_000;

/** A part of a list, and whether more follows in the direction of paging. */
interface Page<Model> {
  readonly models: readonly Model[];
  readonly more: boolean;
}

/**
 * Pages as the messages family does: `limit` (1 to 1,000; absent: all), after `after_id` or before `before_id`.
 * @returns `invalid_body` for invalid values.
 */
export function sharedPage<Model extends ModelFacts>(
  models: readonly Model[],
  query: URLSearchParams,
): Page<Model> | Refusal {
  const limit = countIn(query, ['limit'], 1);
  const after = placeOf(models, query.get('after_id') || null, 'after_id');
  const before = placeOf(models, query.get('before_id') || null, 'before_id');
  for (const value of [limit, after, before]) if (typeof value === 'object' && value !== null) return value;
  const start = typeof after === 'number' ? after + 1 : 0;
  const end = typeof before === 'number' ? before : models.length;
  const most = typeof limit === 'number' ? limit : MOST_ALL;
  // Without `after_id` the page ends at `before_id`, and further models precede it.
  const from = typeof before === 'number' && after === null ? Math.max(0, end - most) : start;
  const to = Math.max(from, Math.min(end, from + most));
  return { models: models.slice(from, to), more: from > start || to < end };
}

/**
 * Pages as the generate-content family does: `pageSize` (over 1,000 counts as 1,000; absent or 0: all), after
 * `pageToken`.
 */
export function contentPage(
  models: readonly ModelFacts[],
  query: URLSearchParams,
): { readonly models: readonly ModelFacts[]; readonly token: string | null } | Refusal {
  const size = countIn(query, ['pageSize', 'page_size'], 0);
  const given = query.get('pageToken') || query.get('page_token') || null;
  const after = placeOf(models, given && Buffer.from(given, 'base64url').toString(), 'pageToken');
  for (const value of [size, after]) if (typeof value === 'object' && value !== null) return value;
  const from = typeof after === 'number' ? after + 1 : 0;
  const to = typeof size === 'number' && size > 0 ? from + size : models.length;
  const page = models.slice(from, to);
  const last = to < models.length ? page.at(-1) : undefined;
  return { models: page, token: last ? Buffer.from(last.id).toString('base64url') : null };
}

const MOST_ALL = Number.MAX_SAFE_INTEGER;

/** A number from the query, reduced to 1,000; null: absent. */
function countIn(query: URLSearchParams, names: readonly string[], least: number): number | null | Refusal {
  const given = names.map((name) => query.get(name)).find(Boolean);
  if (!given) return null;
  const count = /^\d{1,9}$/.test(given) ? Number(given) : -1;
  if (count >= least) return Math.min(count, MOST);
  return refusal(
    'invalid_body',
    `The query parameter "${names[0]}" must be a whole number from ${least} to ${MOST}.`,
  );
}

/** Index of a cursor in the list; null: none was given. */
function placeOf(models: readonly ModelFacts[], id: string | null, name: string): number | null | Refusal {
  if (id === null) return null;
  const at = models.findIndex((model) => model.id === id);
  if (at >= 0) return at;
  return refusal(
    'invalid_body',
    `The query parameter "${name}" matches no model of this list; omit it to start from the first page.`,
  );
}
