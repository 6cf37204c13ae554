import { badInput, notFound, quoted } from '#lib/control/operations/refusal';
import { isRefusal } from '#lib/core/errors';
import type { ModelFacts } from '#lib/core/facts/snapshot';
import type { Ask, Family, Operation } from '#lib/core/families/family';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import { families } from '#lib/core/families/index';
import { match } from '#lib/core/families/match';
import { type Scan, scan } from '#lib/core/families/scan';

/**
 * The family to explain: the given one, or else the first that an offer of the model supports.
 * @throws ControlRefused not_found for a model without an offer in force.
 */
export function chooseFamily(model: ModelFacts, wanted: FamilyId | undefined): Family {
  const offered = new Set(model.offers.flatMap((offer) => [...offer.families]));
  const family = families.find((one) => (wanted === undefined ? offered.has(one.id) : one.id === wanted));
  if (family) return family;
  throw notFound(`${quoted(model.id)} has no offer in force; add one to the catalogue file`, 'model');
}

/**
 * The ask of a body, or of the smallest valid one; its model is always the given one.
 * @param wanted the operation of the family; absent: the first.
 * @throws ControlRefused (invalid_body) for a body that the family does not accept.
 */
export function readAsk(family: Family, modelId: string, given: object | undefined, wanted?: Operation): Ask {
  const first = family.operations.find((one) => one.steps === 'generate' && one.fields !== null);
  const operation = wanted?.family === family.id ? wanted : first;
  if (!operation?.fields) throw badInput('family', `the ${family.id} family has no calls to route`);
  const body = { ...(given ?? family.leastBody), model: modelId };
  const scanned = scan(Buffer.from(JSON.stringify(body)), operation.fields);
  if ('fault' in scanned) throw badInput('body', scanned.fault);
  const asked = operation.listensTo === undefined ? scanned : withRecording(scanned, operation.listensTo);
  const ask = family.readAsk({ operation, params: { model: modelId }, scan: asked });
  if (isRefusal(ask)) throw badInput('body', ask.message);
  return ask;
}

/** A minute of speech, as MP3. */
const recording = { mediaType: 'audio/mpeg', bytes: 480_000, start: 0 } as const;
const RECORDING_MS = 60_000;

/** The members of a JSON body, as a form that has a recording too. */
function withRecording(scanned: Scan, field: string): Scan {
  const textBytes = scanned.body.length;
  const files = [{ ...recording, field }];
  const bytes = textBytes + recording.bytes;
  return { ...scanned, upload: { bytes, textBytes, files, audioMs: RECORDING_MS, read: nothing } };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** What the path of a call means. */
export interface Meant {
  readonly family: FamilyId;
  readonly operation: Operation;
  /** The model in the path; null: it is in the body. */
  readonly model: string | null;
}

/** @throws ControlRefused (invalid_body) for an unknown path, or one whose calls are not routed by a policy. */
export function readPath(path: string): Meant {
  const found = match('POST', path.split('?')[0] ?? '');
  if (isRefusal(found)) throw badInput('path', found.message);
  const { operation, params } = found;
  const family = familyIds.find((id) => id === operation.family);
  if (family === undefined || operation.fields === null) {
    throw badInput('path', `calls to ${quoted(path)} do not name a model in a JSON body`);
  }
  return { family, operation, model: params.model ?? null };
}

/** The model that a call names. @throws ControlRefused (invalid_body) if it names none. */
export function nameIn(meant: Meant | null, body: Readonly<Record<string, unknown>> | undefined): string {
  const name = meant?.model ?? body?.model;
  if (typeof name === 'string' && name !== '' && name.length <= 200) return name;
  throw badInput('model', 'give a model here, in the path, or as "model" in the body');
}
