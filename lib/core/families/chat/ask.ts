import { isRefusal, type Refusal } from '#lib/core/errors';
import { mayBeSpoken, readSpoken } from '#lib/core/families/chat/spoken';
import { readStore } from '#lib/core/families/chat/stored';
import type { Ask, RawAsk } from '#lib/core/families/family';
import {
  readFlag,
  readModel,
  readObject,
  readTier,
  readWhole,
  takeAll,
} from '#lib/core/families/reading/fields';
import { readFiles } from '#lib/core/families/reading/stored-files';
import { referencesIn } from '#lib/core/families/reading/stored-state';
import { weigh } from '#lib/core/families/reading/weight';
import type { Found, Scan } from '#lib/core/families/scan';

/** Where a chat body carries inline media; anything long elsewhere is text. */
const mediaKeys: ReadonlySet<string> = new Set(['url', 'image_url', 'video_url', 'data', 'file_data']);

/** What a chat body asks for (contract: admission/output-budget). */
export function readChatAsk(raw: RawAsk): Ask | Refusal {
  const { scan } = raw;
  const read = takeAll({
    model: readModel(scan),
    stream: readFlag(scan, 'stream'),
    options: readObject(scan, 'stream_options'),
    includeUsage: readFlag(scan, 'stream_options.include_usage'),
    older: readWhole(scan, 'max_tokens', 0),
    newer: readWhole(scan, 'max_completion_tokens', 0),
    choices: readWhole(scan, 'n', 1),
    serviceTier: readTier(scan),
    spoken: readSpoken(scan),
    files: readFiles(scan),
    stored: readStore(scan),
  });
  if (isRefusal(read)) return read;
  const { model, stream, older, newer, choices, serviceTier, spoken, files, stored } = read;
  const own = files.length === 0 ? (spoken ?? []) : [...(spoken ?? []), ...files];
  const references = referencesIn(scan, [], own);
  if (isRefusal(references)) return references;
  return {
    ...raw,
    model,
    stream,
    budget: older === null ? newer : Math.max(older, newer ?? 0),
    choices: choices ?? 1,
    serviceTier,
    weight: weigh(scan, mediaKeys, searchTools(scan)),
    ...(toolTypes(scan).length > 0 || scan.found.has('web_search_options') ? { serverTools: true } : {}),
    ...references,
    ...(stored ? { stored } : {}),
    ...(mayBeSpoken(scan) || stored ? {} : { shows: false }),
  };
}

/** Types of declared tools that the provider runs itself; only these are collected. */
export const providerTool = /^(?!(function|custom)$)/;
const searchTool = /search|fetch/;

/** Those of them that search or fetch. */
function searchTools(scan: Scan): number {
  const declared = toolTypes(scan).filter(({ value }) => searchTool.test(String(value))).length;
  return declared + (scan.found.has('web_search_options') ? 1 : 0);
}

function toolTypes({ collected }: Scan): readonly Found[] {
  return collected.filter(({ path }) => path === 'tools[].type');
}
