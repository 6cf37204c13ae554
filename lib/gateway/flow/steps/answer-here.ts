import { isRefusal, Refused, refusal, unaccountable } from '#lib/core/errors';
import type { ResourcePage } from '#lib/core/facts/resource';
import type { KeySnapshot, ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import type { Operation } from '#lib/core/families/family';
import { listedFamilies, modelsAnswer } from '#lib/core/families/models';
import { type AuthenticatedCall, allowsTranslation, type FamilyCall } from '#lib/gateway/flow/call/call';
import type { HeaderList } from '#lib/gateway/flow/lane';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { aliasEntries, resolveName } from '#lib/gateway/routing/names/resolve';
import { callableFamilies, isAvailable } from '#lib/gateway/routing/pure/exclude';
import { ownChoice } from '#lib/gateway/routing/pure/pool';

/** The models that the key may call, or one of them (contract: families/model-lists). */
export function answerModels(runtime: Runtime, call: AuthenticatedCall): SendLastByte {
  const { operation, snapshot } = call;
  const catalogue = runtime.catalogue();
  const scope = snapshot.key.models;
  const nowMs = runtime.clock.now();
  const request = { headers: call.arrival.headers, query: call.query };
  const shown = listedFamilies(operation, request);
  const callable = [...catalogue.models.values()].flatMap((model) => {
    if (scope !== null && !scope.has(model.id)) return [];
    const families = callableFamilies(model, allowsTranslation(call, model.id), nowMs, snapshot.ownKeys);
    if (!shown.some((family) => families.has(family))) return [];
    return [{ ...model, families, offers: offersOf(model, snapshot, nowMs) }];
  });
  const models = [...callable, ...aliasEntries(callable, catalogue, snapshot.policies.get('')?.aliases)];
  const { model: asked = '' } = call.params;
  const named = models.some(({ id }) => id === asked)
    ? { slug: asked }
    : resolveName(asked, snapshot, catalogue, null);
  const params = 'code' in named ? call.params : { ...call.params, model: named.slug };
  const answer = modelsAnswer(operation, { ...request, params }, models);
  if (isRefusal(answer)) throw new Refused(answer);
  if (!answer) {
    throw new Refused(
      refusal('not_found', 'No such model is available to this key; GET /v1/models lists those that are.'),
    );
  }
  return answerWith(call, answer);
}

function offersOf(model: ModelFacts, { ownKeys }: KeySnapshot, nowMs: number): readonly OfferFacts[] {
  const own = ownChoice(ownKeys, model);
  return model.offers.filter((one) => isAvailable(one, nowMs, own));
}

type Lists = NonNullable<Operation['lists']>;

/**
 * One page of what the workspace has of a kind (contract: jobs/job-list, jobs/resource-list); a provider's own list
 * would show that of other workspaces too. The query is that of its SDKs: `limit`, `order`, `after` (the last id of the
 * page before), `after_id` and `before_id`, or `pageSize` and `pageToken`; and the filters of the operation.
 * @throws Refused `invalid_body` for another value; `local_quota_not_configured`.
 */
export async function answerList(runtime: Runtime, call: FamilyCall, lists: Lists): Promise<SendLastByte> {
  const query = new URLSearchParams(call.query);
  const { backwards, ...page } = pagings[lists.paging ?? 'after'](query, lists);
  try {
    const { views: read, more } = await viewsOf(runtime, call, { ...page, lists, query });
    const views = backwards ? [...read].reverse() : read;
    const last = views.at(-1);
    if (lists.paging === 'tokens') {
      const next = more ? { nextPageToken: String(last?.name).split('/').at(-1) } : {};
      return answerWith(call, { [lists.member ?? 'data']: views, ...next });
    }
    return answerWith(call, {
      ...(lists.paging === 'ids' ? {} : { object: 'list' }),
      data: views,
      first_id: views[0]?.id ?? null,
      last_id: last?.id ?? null,
      has_more: more,
      ...(lists.paging === 'ids' ? { next_page: more && !backwards ? (last?.id ?? null) : null } : {}),
    });
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot list what is stored right now'));
  }
}

interface Page {
  readonly after: string | null;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  readonly lists: Lists;
  readonly query: URLSearchParams;
}

type AskedPage = Pick<Page, 'after' | 'limit' | 'order'> & {
  /** It is read from its last entry on. */
  readonly backwards: boolean;
};

function pageIn(query: URLSearchParams, lists: Lists): AskedPage {
  const after = query.get('after') || null;
  return { after, limit: limitIn(query, lists), order: orderIn(query, lists), backwards: false };
}

/** The page behind `pageToken`, which is a `nextPageToken`; a size of 0 is that of none. */
function pageByToken(query: URLSearchParams, lists: Lists): AskedPage {
  const after = query.get('pageToken') || query.get('page_token') || null;
  const name = query.has('page_size') ? 'page_size' : 'pageSize';
  const limit = limitIn(query, lists, name) || lists.usual;
  return { after, limit, order: lists.order, backwards: false };
}

/** The page behind `after_id` or `page`, which is a `next_page`; or the one before `before_id`. */
function pageById(query: URLSearchParams, lists: Lists): AskedPage {
  const limit = limitIn(query, lists);
  const after = query.get('after_id') || query.get('page') || null;
  const before = query.get('before_id') || null;
  if (before === null) return { after, limit, order: lists.order, backwards: false };
  if (after !== null) {
    throw new Refused(refusal('invalid_body', 'The query has "after_id" and "before_id"; send one of them.'));
  }
  return { after: before, limit, order: lists.order === 'desc' ? 'asc' : 'desc', backwards: true };
}

const pagings = { after: pageIn, ids: pageById, tokens: pageByToken };

/** Jobs have rows of their own, which say how they stand. */
async function viewsOf(
  { jobs, resources }: Runtime,
  { family, snapshot }: FamilyCall,
  { lists, query, ...page }: Page,
) {
  const workspaceId = snapshot.workspace.id;
  const kind = lists.of;
  if (family.jobs?.kind === kind) {
    if (!jobs) throw new Error('this process keeps no jobs');
    return jobs.list(workspaceId, kind, { ...page, family: family.id });
  }
  if (!resources) throw new Error('this process keeps no resources');
  return resources.list(workspaceId, { ...page, kind, family: family.id, ...filtersIn(query, lists) });
}

/** `metadata[key]=value`, and what else the operation filters by. */
function filtersIn(query: URLSearchParams, { filters = [] }: Lists): Pick<ResourcePage, 'having' | 'model'> {
  const having: Record<string, unknown> = {};
  const metadata: Record<string, string> = {};
  for (const [name, value] of query) {
    const key = /^metadata\[(.+)\]$/.exec(name)?.[1];
    if (key !== undefined && filters.includes('metadata')) metadata[key] = value;
    else if (name !== 'model' && filters.includes(name)) having[name] = value;
  }
  if (Object.keys(metadata).length > 0) having.metadata = metadata;
  const model = filters.includes('model') ? query.get('model') || null : null;
  return { having: Object.keys(having).length > 0 ? having : null, model };
}

function limitIn(query: URLSearchParams, { usual, most }: Lists, name = 'limit'): number {
  const given = query.get(name) ?? '';
  if (given === '') return usual;
  const limit = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
  if (limit <= most) return limit;
  throw new Refused(
    refusal('invalid_body', `The query parameter "${name}" must be a whole number from 0 to ${most}.`),
  );
}

function orderIn(query: URLSearchParams, { order }: Lists): 'asc' | 'desc' {
  const given = query.get('order') ?? '';
  if (given === '') return order;
  if (given === 'desc' || given === 'asc') return given;
  throw new Refused(refusal('invalid_body', 'The query parameter "order" must be "asc" or "desc".'));
}

/** Sends what the gateway answers itself. */
export function answerWith(call: AuthenticatedCall, answer: object, headers: HeaderList = []): SendLastByte {
  call.outcome.status = 200;
  const body = JSON.stringify(answer);
  return (reply) => {
    const length = String(Buffer.byteLength(body));
    const type = 'application/json; charset=utf-8';
    reply.start(200, [...call.headers, ...headers, 'content-type', type, 'content-length', length]);
    reply.end(body);
  };
}
