import { isRefusal, type Refusal } from '#lib/errors';
import type { Ask, InputWeight, Operation } from '#lib/families/family';
import { readNested } from '#lib/families/nested';
import { readFlag, readModel, readText, readWhole } from '#lib/families/reading/fields';
import { referencesIn } from '#lib/families/reading/stored-state';
import { weigh } from '#lib/families/reading/weight';
import { readReferences } from '#lib/families/responses/references';
import type { Scan } from '#lib/families/scan';

/** Where a request carries inline media; `result` is a picture that an earlier answer made. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'file_data', 'data', 'result']);

const toolPaths = ['tools[]', 'input[].tools[]'];
const toolTypePaths = toolPaths.map((path) => `${path}.type`);

/** What a request for a response asks for (decisions §5). */
export function readResponsesAsk(
  operation: Operation,
  params: Readonly<Record<string, string>>,
  scan: Scan,
): Ask | Refusal {
  const model = readModel(scan);
  if (isRefusal(model)) return model;
  const stream = readFlag(scan, 'stream');
  if (isRefusal(stream)) return stream;
  const background = readFlag(scan, 'background');
  if (isRefusal(background)) return background;
  const kept = readKept(scan);
  if (isRefusal(kept)) return kept;
  const budget = readWhole(scan, 'max_output_tokens', 0);
  if (isRefusal(budget)) return budget;
  const serviceTier = readText(scan, 'service_tier');
  if (isRefusal(serviceTier)) return serviceTier;
  const nested = readNested(
    scan,
    toolPaths.map((path) => `${path}.model`),
  );
  if (isRefusal(nested)) return nested;
  const continued = readReferences(scan);
  if (isRefusal(continued)) return continued;
  const references = referencesIn(scan, ['previous_response_id', 'conversation'], continued);
  if (isRefusal(references)) return references;
  const imageModel = nested?.[0]?.slug;
  return {
    operation,
    params,
    model,
    stream,
    budget,
    choices: 1,
    serviceTier,
    weight: weightOf(scan),
    ...(nested ? { nested } : {}),
    ...references,
    // What is not kept cannot run in the background: the provider says so itself.
    ...(background && kept ? { job: imageModel === undefined ? {} : { imageModel } } : {}),
    scan,
  };
}

/** Responses are kept unless the request says otherwise. */
function readKept(scan: Scan): boolean | Refusal {
  return scan.found.has('store') ? readFlag(scan, 'store') : true;
}

function weightOf(scan: Scan): InputWeight {
  const searches = scan.collected.filter(({ path }) => toolTypePaths.includes(path));
  const longStrings = scan.longStrings.map((long) =>
    long.key === 'result' && long.mediaType === null ? { ...long, mediaType: 'image/*' } : long,
  );
  return weigh({ ...scan, longStrings }, mediaKeys, searches.length);
}
