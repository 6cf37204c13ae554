import { badInput, notFound, quoted } from '#lib/control/operations/refusal';
import { isRefusal } from '#lib/core/errors';
import type { ModelFacts } from '#lib/core/facts/snapshot';
import type { Ask, Family, Operation } from '#lib/core/families/family';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import { families } from '#lib/core/families/index';
import { match } from '#lib/core/families/match';
import { scan } from '#lib/core/families/scan';

/**
 * The family to explain: the one named, else the first that an offer of the model speaks.
 * @throws ControlRefused not_found for a model without an offer in force.
 */
export function chooseFamily(model: ModelFacts, wanted: FamilyId | undefined): Family {
  const offered = new Set(model.offers.flatMap((offer) => [...offer.families]));
  const family = families.find((one) => (wanted === undefined ? offered.has(one.id) : one.id === wanted));
  if (family) return family;
  throw notFound(`no offer of ${quoted(model.id)} is in force; add one in the catalogue file`, 'model');
}

/**
 * The ask of a body, or of the least one; its model is always the one asked about.
 * @param wanted the operation of the family that is called; absent: its first.
 * @throws ControlRefused (invalid_body) for a body that the family does not take.
 */
export function readAsk(family: Family, modelId: string, given: object | undefined, wanted?: Operation): Ask {
  const first = family.operations.find((one) => one.steps === 'generate' && one.fields !== null);
  const operation = wanted?.family === family.id ? wanted : first;
  if (!operation?.fields) throw badInput('family', `the ${family.id} family generates nothing to route`);
  const body = { ...(given ?? family.leastBody), model: modelId };
  const scanned = scan(Buffer.from(JSON.stringify(body)), operation.fields);
  if ('fault' in scanned) throw badInput('body', scanned.fault);
  const ask = family.readAsk({ operation, params: { model: modelId }, scan: scanned });
  if (isRefusal(ask)) throw badInput('body', ask.message);
  return ask;
}

/** What a path of a call means. */
export interface Meant {
  readonly family: FamilyId;
  readonly operation: Operation;
  /** The model that stands in the path; null: the body names it. */
  readonly model: string | null;
}

/** @throws ControlRefused (invalid_body) for a path that no call has, or whose calls are not routed by a policy. */
export function readPath(path: string): Meant {
  const found = match('POST', path.split('?')[0] ?? '');
  if (isRefusal(found)) throw badInput('path', found.message);
  const { operation, params } = found;
  const family = familyIds.find((id) => id === operation.family);
  if (family === undefined || operation.fields === null) {
    throw badInput('path', `${quoted(path)} is no call that names a model in a JSON body`);
  }
  return { family, operation, model: params.model ?? null };
}

/** The model that a call names. @throws ControlRefused (invalid_body) when it names none. */
export function nameIn(meant: Meant | null, body: Readonly<Record<string, unknown>> | undefined): string {
  const name = meant?.model ?? body?.model;
  if (typeof name === 'string' && name !== '' && name.length <= 200) return name;
  throw badInput('model', 'name a model here, in the path or as "model" in the body');
}
