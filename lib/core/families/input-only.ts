import { isRefusal, type Refusal } from '#lib/core/errors';
import { modelEdits } from '#lib/core/families/edits';
import { type Ask, type Family, type Operation, ownPath, type RawAsk } from '#lib/core/families/family';
import type { FamilyId } from '#lib/core/families/ids';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { faultReader } from '#lib/core/families/reading/fault';
import { readModel, readTier, takeAll } from '#lib/core/families/reading/fields';
import { Figures } from '#lib/core/families/reading/figures';
import { objectIn } from '#lib/core/families/reading/json';
import { weigh } from '#lib/core/families/reading/weight';
import { type UsageReport, usageOf } from '#lib/core/metering/usage';

/** Embeddings as api.openai.com speaks them. */
export const embeddings = inputOnly('embeddings', { sameModel: true, leastBody: { input: 'hello' } });

/** How well documents answer a query, in the shape that Cohere, Jina and Voyage share. */
export const rerank = inputOnly('rerank', { leastBody: { query: 'hello', documents: ['hello'] } });

/** What harmful content a text or a picture has, by category. */
export const moderations = inputOnly('moderations', { leastBody: { input: 'hello' } });

/**
 * A family whose only operation reads its input and writes nothing: its answers are whole and have no output tokens
 * (contract: families/input-only).
 */
function inputOnly(
  id: FamilyId,
  { leastBody, ...rest }: Pick<Family, 'leastBody'> & Pick<Operation, 'sameModel'>,
): Family {
  return {
    id,
    operations: [
      {
        ...rest,
        name: `${id}.create`,
        family: id,
        method: 'POST',
        path: id,
        prefixes: ['v1'],
        steps: 'generate',
        fields: { model: {}, service_tier: {} },
      },
    ],
    readAsk: readInputAsk,
    edits: ({ scan }, { upstreamModel }) => modelEdits(scan, upstreamModel),
    upstreamPath: ownPath,
    credentialHeader: 'authorization',
    readUsage: (_ask, answer) => readInputUsage(answer),
    outputBytes: () => 0,
    streamReader: () => new EventReader(),
    faultOf: faultReader({ sayings: [] }),
    breakFrame: () => null,
    signOfLife: null,
    clientPath: `/v1/${id}`,
    leastBody,
  };
}

/** Where such a body may carry pictures. */
const mediaKeys: ReadonlySet<string> = new Set(['url', 'image', 'image_url', 'image_base64']);

function readInputAsk(raw: RawAsk): Ask | Refusal {
  const { scan } = raw;
  const read = takeAll({ model: readModel(scan), serviceTier: readTier(scan) });
  if (isRefusal(read)) return read;
  return { ...raw, ...read, stream: false, budget: null, choices: 1, weight: weigh(scan, mediaKeys, 0) };
}

/** All tokens are input; some dialects report only `total_tokens`. */
function readInputUsage(answer: unknown): UsageReport | null {
  const usage = objectIn(objectIn(answer)?.usage);
  const tokens = usage?.prompt_tokens ?? usage?.input_tokens ?? usage?.total_tokens ?? null;
  if (tokens === null) return null;
  const figures = new Figures();
  const input = figures.read(tokens, 'input');
  return { usage: usageOf({ input }), serviceTier: null, nested: [], ...figures.marks() };
}
