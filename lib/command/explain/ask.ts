import { readFile } from 'node:fs/promises';
import { CommandRefused } from '#lib/command/command';
import { isRefusal } from '#lib/errors';
import type { Ask, Family } from '#lib/families/family';
import { families } from '#lib/families/index';
import { scan } from '#lib/families/scan';
import type { FamilyId, ModelFacts } from '#lib/snapshot/snapshot';

/** The least that each family accepts, for a plan without a body. */
const leastBody: Readonly<Record<FamilyId, object>> = {
  chat: { messages: [{ role: 'user', content: 'hello' }] },
  responses: { input: 'hello' },
  messages: { max_tokens: 16, messages: [{ role: 'user', content: 'hello' }] },
  images: { prompt: 'hello' },
  videos: { prompt: 'hello' },
  'generate-content': { contents: [{ parts: [{ text: 'hello' }] }] },
};

/** The family to explain: the one named, else the first that an offer of the model speaks. */
export function chooseFamily(model: ModelFacts, wanted: string | undefined): Family {
  const offered = new Set(model.offers.flatMap((offer) => [...offer.families]));
  const family = families.find((one) => (wanted === undefined ? offered.has(one.id) : one.id === wanted));
  if (family) return family;
  const known = families.map((one) => one.id).join(', ');
  throw new CommandRefused(
    wanted === undefined
      ? `no offer of "${model.id}" is in force: add one in the catalogue file`
      : `--family: a family is one of ${known}`,
  );
}

/** The ask of a body file, or of the least body; its model is always the one asked about. */
export async function readAsk(family: Family, modelId: string, file: string | undefined): Promise<Ask> {
  const operation = family.operations.find((one) => one.steps === 'generate' && one.fields !== null);
  if (!operation?.fields) throw new CommandRefused(`the ${family.id} family generates nothing to route`);
  const given = file === undefined ? leastBody[family.id] : await readBody(file);
  const bytes = Buffer.from(JSON.stringify({ ...given, model: modelId }));
  const scanned = scan(bytes, operation.fields);
  if ('fault' in scanned) throw new CommandRefused(scanned.fault);
  const ask = family.readAsk(operation, { model: modelId }, scanned);
  if (isRefusal(ask)) throw new CommandRefused(ask.message);
  return ask;
}

async function readBody(file: string): Promise<object> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) throw new CommandRefused(`${file} cannot be read: give a request body as JSON`);
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  } catch {
    // Said below, like every other body that is no JSON object.
  }
  throw new CommandRefused(`${file} holds no JSON object: give a request body`);
}
