import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, InputWeight, RawAsk } from '#lib/core/families/family';
import { readNested } from '#lib/core/families/nested';
import { readFlag, readModel, readTier, readWhole, takeAll } from '#lib/core/families/reading/fields';
import { referencesIn } from '#lib/core/families/reading/stored-state';
import { weigh } from '#lib/core/families/reading/weight';
import { readReferences } from '#lib/core/families/responses/references';
import type { Found, Scan } from '#lib/core/families/scan';

/** Where a request carries inline media; `result` is a picture that an earlier answer made. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'file_data', 'data', 'result']);

const toolPaths = ['tools[]', 'input[].tools[]'];
const toolTypePaths = toolPaths.map((path) => `${path}.type`);
const toolModelPaths = toolPaths.map((path) => `${path}.model`);

/** Tools with which the provider searches or fetches by itself, with their dated and preview names. */
const searchTool = /^(web_search|file_search|x_search|collections_search|web_fetch)(_|$)/;

/** What a request for a response asks for (contract: admission/output-budget). */
export function readResponsesAsk(raw: RawAsk): Ask | Refusal {
  const { operation, scan } = raw;
  const read = takeAll({
    model: readModel(scan),
    stream: readFlag(scan, 'stream'),
    background: readFlag(scan, 'background'),
    kept: readKept(scan),
    budget: readWhole(scan, 'max_output_tokens', 0),
    serviceTier: readTier(scan),
    nested: readNested(scan, toolModelPaths),
    continued: readReferences(scan),
  });
  if (isRefusal(read)) return read;
  const { model, stream, background, kept, budget, serviceTier, nested, continued } = read;
  const references = referencesIn(scan, ['previous_response_id', 'conversation'], continued);
  if (isRefusal(references)) return references;
  const imageModel = nested?.[0]?.slug;
  const tools = scan.collected.filter(({ path }) => toolTypePaths.includes(path));
  const creates = operation.name === 'responses.create';
  const makesContainer = tools.some(({ value }) => value === 'code_interpreter' || value === 'shell');
  return {
    ...raw,
    model,
    stream,
    budget,
    choices: 1,
    serviceTier,
    weight: weightOf(scan, tools),
    ...(tools.length > 0 ? { serverTools: true } : {}),
    ...(nested ? { nested } : {}),
    ...references,
    // What is not stored cannot run in the background; the provider refuses it itself.
    ...(creates && (kept || makesContainer) ? {} : { unkept: true }),
    ...(background && kept && creates ? { job: imageModel === undefined ? {} : { imageModel } } : {}),
  };
}

/** Responses are kept unless the request says otherwise. */
function readKept(scan: Scan): boolean | Refusal {
  return scan.found.has('store') ? readFlag(scan, 'store') : true;
}

/** @param tools the types of those that the provider runs. */
function weightOf(scan: Scan, tools: readonly Found[]): InputWeight {
  const searches = tools.filter(({ value }) => searchTool.test(String(value)));
  const longStrings = scan.longStrings.map((long) =>
    long.key === 'result' && long.mediaType === null ? { ...long, mediaType: 'image/*' } : long,
  );
  return weigh({ ...scan, longStrings }, mediaKeys, searches.length);
}
