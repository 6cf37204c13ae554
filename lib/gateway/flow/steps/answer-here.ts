import { isRefusal, Refused, refusal } from '#lib/core/errors';
import { modelsAnswer } from '#lib/core/families/models';
import type { AuthenticatedCall, FamilyCall } from '#lib/gateway/flow/call/call';
import { listJobs } from '#lib/gateway/flow/relay/job-list';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { aliasEntries, resolveName } from '#lib/gateway/routing/names/resolve';
import { isAvailable } from '#lib/gateway/routing/pure/exclude';

/** The models that the key may call, or one of them (contract: families/model-lists). */
export function answerModels(runtime: Runtime, call: AuthenticatedCall): SendLastByte {
  const { operation, snapshot } = call;
  const catalogue = runtime.catalogue();
  const scope = snapshot.key.models;
  const nowMs = runtime.clock.now();
  const callable = [...catalogue.models.values()].flatMap((model) => {
    const offers =
      scope === null || scope.has(model.id) ? model.offers.filter((one) => isAvailable(one, nowMs)) : [];
    return offers.length > 0 ? [{ ...model, offers }] : [];
  });
  const models = [...callable, ...aliasEntries(callable, catalogue, snapshot.policies.get('')?.aliases)];
  const { model: asked = '' } = call.params;
  const named = models.some(({ id }) => id === asked)
    ? { slug: asked }
    : resolveName(asked, snapshot, catalogue, null);
  const params = 'code' in named ? call.params : { ...call.params, model: named.slug };
  const request = { params, headers: call.arrival.headers, query: call.query };
  const answer = modelsAnswer(operation, request, models);
  if (isRefusal(answer)) throw new Refused(answer);
  if (!answer) {
    throw new Refused(
      refusal('not_found', 'No such model is available to this key; GET /v1/models lists those that are.'),
    );
  }
  return answerWith(call, answer);
}

/** The workspace's jobs of a family; a provider's own list would show those of other workspaces too. */
export async function answerJobList(runtime: Runtime, call: FamilyCall): Promise<SendLastByte> {
  return answerWith(call, await listJobs(runtime, call));
}

function answerWith(call: AuthenticatedCall, answer: object): SendLastByte {
  call.outcome.status = 200;
  const body = JSON.stringify(answer);
  return (reply) => {
    const length = String(Buffer.byteLength(body));
    const type = 'application/json; charset=utf-8';
    reply.start(200, [...call.headers, 'content-type', type, 'content-length', length]);
    reply.end(body);
  };
}
