import { isRefusal, type Refusal } from '#lib/core/errors';
import { modelEdits, setRootField } from '#lib/core/families/edits';
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
export const moderations = inputOnly('moderations', {
  leastBody: { input: 'hello' },
  usualModel: 'omni-moderation-latest',
});

interface Settings extends Pick<Family, 'leastBody'>, Pick<Operation, 'sameModel'> {
  /** The model of a request that names none, as OpenAI has one; absent: each request must name one. */
  readonly usualModel?: string;
}

/**
 * A family whose only operation reads its input and writes nothing: its answers are whole and have no output tokens
 * (contract: families/input-only).
 */
function inputOnly(id: FamilyId, { leastBody, usualModel, ...rest }: Settings): Family {
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
    readAsk: (raw) => readInputAsk(raw, usualModel),
    edits: ({ scan }, { upstreamModel }) =>
      scan.found.has('model')
        ? modelEdits(scan, upstreamModel)
        : [setRootField(scan, 'model', JSON.stringify(upstreamModel))],
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

function readInputAsk(raw: RawAsk, usualModel: string | undefined): Ask | Refusal {
  const { scan } = raw;
  const usual = scan.found.has('model') ? undefined : usualModel;
  const read = takeAll({ model: usual ?? readModel(scan), serviceTier: readTier(scan) });
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
