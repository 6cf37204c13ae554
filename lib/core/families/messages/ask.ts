import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, InputWeight, RawAsk } from '#lib/core/families/family';
import { mayShowContainer } from '#lib/core/families/messages/container';
import { readNested } from '#lib/core/families/nested';
import {
  readCount,
  readFlag,
  readModel,
  readTier,
  readWhole,
  takeAll,
} from '#lib/core/families/reading/fields';
import { readFiles } from '#lib/core/families/reading/stored-files';
import { referencesIn } from '#lib/core/families/reading/stored-state';
import { weigh } from '#lib/core/families/reading/weight';
import type { Scan } from '#lib/core/families/scan';

/** Images and documents are blocks with a `source` that contains `data`; all else is text. */
const mediaKeys: ReadonlySet<string> = new Set(['data']);

/** Where the body names further models: fallbacks that the provider tries itself, and advisor tools. */
const nestedPaths = ['fallbacks[].model', 'tools[].model'];
const nestedBudgets = ['fallbacks[].max_tokens', 'tools[].max_tokens'];

/** Types of tools that the provider runs itself, which others of the vendor's are not; no others are collected. */
export const providerTool = /^(?!(custom|bash|text_editor|computer|memory)(_|$))/;

/** What a messages body asks for (contract: admission/output-budget); a budget of 0 is legal and warms the cache. */
export function readMessagesAsk(raw: RawAsk): Ask | Refusal {
  const { scan } = raw;
  // A fallback at the provider may have its own speed; a chosen region costs more, too.
  const speeds = scan.collected.filter(({ path }) => path === 'fallbacks[].speed');
  const read = takeAll({
    model: readModel(scan),
    nested: readNested(scan, nestedPaths),
    stream: readFlag(scan, 'stream'),
    budget: readBudget(scan),
    serviceTier: readTier(scan, [...speeds, scan.found.get('inference_geo')]),
    references: readReferences(scan),
  });
  if (isRefusal(read)) return read;
  const { model, nested, stream, budget, serviceTier, references } = read;
  return {
    ...raw,
    model,
    stream,
    budget,
    choices: 1,
    serviceTier,
    weight: weightOf(scan),
    ...(nested ? { nested } : {}),
    ...(budget !== null && !scan.found.has('max_tokens') ? { budgetIsNested: true } : {}),
    ...(scan.collected.some(({ path }) => path === 'tools[].type') ? { serverTools: true } : {}),
    ...references,
    ...(mayShowContainer(scan) ? {} : { shows: false }),
  };
}

/** What a count asks for: it has no budget and is never streamed. */
export function readCountAsk(raw: RawAsk): Ask | Refusal {
  const { scan } = raw;
  const read = takeAll({
    model: readModel(scan),
    nested: readNested(scan, nestedPaths),
    references: readReferences(scan),
  });
  if (isRefusal(read)) return read;
  const { model, nested, references } = read;
  return {
    ...raw,
    model,
    stream: false,
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: weightOf(scan),
    ...(nested ? { nested } : {}),
    ...references,
  };
}

/** State kept at the provider, and files that it stores. */
function readReferences(scan: Scan): ReturnType<typeof referencesIn> {
  const files = readFiles(scan);
  return isRefusal(files) ? files : referencesIn(scan, [], files);
}

/** The largest budget that any model in the request is given: a nested one generates too. */
function readBudget(scan: Scan): number | null | Refusal {
  let largest = readWhole(scan, 'max_tokens', 0);
  if (isRefusal(largest)) return largest;
  for (const found of scan.collected) {
    if (!nestedBudgets.includes(found.path)) continue;
    const budget = readCount(found, 0);
    if (isRefusal(budget)) return budget;
    largest = Math.max(largest ?? 0, budget);
  }
  return largest;
}

function weightOf(scan: Scan): InputWeight {
  const searches = scan.collected.filter(
    ({ path, value }) =>
      path === 'tools[].type' && typeof value === 'string' && /^web_(search|fetch)(_|$)/.test(value),
  );
  return weigh(scan, mediaKeys, searches.length);
}
