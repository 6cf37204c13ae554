import { Refused, refusal } from '#lib/errors';
import { modelsAnswer } from '#lib/families/models';
import type { Call } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import type { Ending } from '#lib/gateway/steps/relay-answer';
import { isAvailable } from '#lib/routing/exclude';

/** Operations that the gateway answers by itself: the models lists (decisions §11). null: a provider answers. */
export function answerHere(runtime: Runtime, call: Call): Ending | null {
  const { operation, snapshot } = call;
  if (operation?.steps !== 'models' || !snapshot) return null;
  const scope = snapshot.key.models;
  const models = [...runtime.catalogue().models.values()].filter(
    (model) => (scope === null || scope.has(model.id)) && model.offers.some(isAvailable),
  );
  const answer = modelsAnswer(operation, call.params, call.arrival.headers, call.query, models);
  if (!answer) {
    throw new Refused(
      refusal('not_found', 'No such model is available to this key; GET /v1/models lists those that are.'),
    );
  }
  call.status = 200;
  const body = JSON.stringify(answer);
  return (reply) => {
    reply.start(200, {
      ...call.headers,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
    });
    reply.end(body);
  };
}
