import { isRefusal, Refused, refusal, unaccountable } from '#lib/core/errors';
import { listedFamilies, modelsAnswer } from '#lib/core/families/models';
import { type AuthenticatedCall, allowsTranslation, type FamilyCall } from '#lib/gateway/flow/call/call';
import type { HeaderList } from '#lib/gateway/flow/lane';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { aliasEntries, resolveName } from '#lib/gateway/routing/names/resolve';
import { callableFamilies, isAvailable } from '#lib/gateway/routing/pure/exclude';

/** Jobs of a page: usually, and at most. */
const USUAL_JOBS = 20;
const MOST_JOBS = 100;

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
    const families = callableFamilies(model, allowsTranslation(call, model.id), nowMs);
    if (!shown.some((family) => families.has(family))) return [];
    return [{ ...model, families, offers: model.offers.filter((one) => isAvailable(one, nowMs)) }];
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

/**
 * One page of the workspace's jobs of a family; a provider's own list would show those of other workspaces too. The
 * query is that of its SDKs: `limit` (0 to 100, default 20), `order` (default `desc`), `after` (the last id of the page
 * before).
 * @throws Refused `invalid_body` for another value; `local_quota_not_configured`.
 */
export async function answerJobList(runtime: Runtime, call: FamilyCall): Promise<SendLastByte> {
  const kind = call.family.jobs?.kind;
  if (!kind) throw new Error('an operation without a resource lists the jobs of its family');
  const query = new URLSearchParams(call.query);
  const page = { after: query.get('after') || null, limit: limitIn(query), order: orderIn(query) };
  try {
    if (!runtime.jobs) throw new Error('this process keeps no jobs');
    const { views, more } = await runtime.jobs.list(call.snapshot.workspace.id, kind, page);
    return answerWith(call, {
      object: 'list',
      data: views,
      first_id: views[0]?.id ?? null,
      last_id: views.at(-1)?.id ?? null,
      has_more: more,
    });
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot list jobs right now'));
  }
}

function limitIn(query: URLSearchParams): number {
  const given = query.get('limit') ?? '';
  if (given === '') return USUAL_JOBS;
  const limit = /^\d{1,3}$/.test(given) ? Number(given) : Number.NaN;
  if (limit <= MOST_JOBS) return limit;
  throw new Refused(
    refusal('invalid_body', `The query parameter "limit" must be a whole number from 0 to ${MOST_JOBS}.`),
  );
}

function orderIn(query: URLSearchParams): 'asc' | 'desc' {
  const given = query.get('order') ?? '';
  if (given === '' || given === 'desc' || given === 'asc') return given === 'asc' ? 'asc' : 'desc';
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
