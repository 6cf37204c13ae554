import { isRefusal, Refused, refusal } from '#lib/errors';
import { modelsAnswer } from '#lib/families/models';
import type { Call } from '#lib/gateway/call';
import { listJobs } from '#lib/gateway/relay/job-list';
import type { Ending } from '#lib/gateway/relay/parts';
import type { Runtime } from '#lib/gateway/runtime';
import { isAvailable } from '#lib/routing/exclude';
import { resolveName } from '#lib/routing/names/resolve';

/**
 * Operations that the gateway answers by itself (contract: families/model-lists, jobs/job-list): the models lists,
 * and lists of a family's jobs, in which a provider would show those of other workspaces. null: a provider answers.
 */
export function answerHere(runtime: Runtime, call: Call): Ending | Promise<Ending> | null {
  const steps = call.operation?.steps;
  if (steps === 'models') return answerWith(call, listModels(runtime, call));
  if (steps !== 'stored' || call.resource) return null;
  return listJobs(runtime, call).then((list) => answerWith(call, list));
}

function listModels(runtime: Runtime, call: Call): object {
  const { operation, snapshot } = call;
  if (!operation || !snapshot) throw new Error('models are listed for an authenticated call');
  const scope = snapshot.key.models;
  const models = [...runtime.catalogue().models.values()].flatMap((model) => {
    const offers = scope === null || scope.has(model.id) ? model.offers.filter(isAvailable) : [];
    return offers.length > 0 ? [{ ...model, offers }] : [];
  });
  const named = resolveName(call.params.model ?? '', snapshot, runtime.catalogue(), null);
  const params = 'code' in named ? call.params : { ...call.params, model: named.slug };
  const answer = modelsAnswer(operation, params, call.arrival.headers, call.query, models);
  if (isRefusal(answer)) throw new Refused(answer);
  if (!answer) {
    throw new Refused(
      refusal('not_found', 'No such model is available to this key; GET /v1/models lists those that are.'),
    );
  }
  return answer;
}

function answerWith(call: Call, answer: object): Ending {
  call.status = 200;
  const body = JSON.stringify(answer);
  return (reply) => {
    const length = String(Buffer.byteLength(body));
    const type = 'application/json; charset=utf-8';
    reply.start(200, [...call.headers, 'content-type', type, 'content-length', length]);
    reply.end(body);
  };
}
