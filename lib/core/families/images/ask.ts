import { isRefusal, type Refusal } from '#lib/core/errors';
import type { Ask, InputWeight, Operation } from '#lib/core/families/family';
import { askedImages } from '#lib/core/families/images/media';
import { readNested } from '#lib/core/families/nested';
import { readFlag, readModel, readText, readTier, readWhole } from '#lib/core/families/reading/fields';
import { weigh } from '#lib/core/families/reading/weight';
import type { Scan } from '#lib/core/families/scan';

/** Where a body carries inline images. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'b64_json', 'url']);
/** Where it names the model that draws vector graphics (contract: admission/nested-models). */
const nestedPaths = ['svg.model'];
/** Fields that the hold and the price depend on, by what they must be. */
const texts = ['size', 'quality', 'output_format'];
const counts = ['partial_images', 'frame_count'];

/** What a request for images asks for. It has no output budget. */
export function readImagesAsk(
  operation: Operation,
  params: Readonly<Record<string, string>>,
  scan: Scan,
): Ask | Refusal {
  const model = readModel(scan);
  if (isRefusal(model)) return model;
  const stream = readFlag(scan, 'stream');
  if (isRefusal(stream)) return stream;
  const choices = readWhole(scan, 'n', 1);
  if (isRefusal(choices)) return choices;
  for (const path of texts) {
    const text = readText(scan, path);
    if (isRefusal(text)) return text;
  }
  for (const path of counts) {
    const count = readWhole(scan, path, 0);
    if (isRefusal(count)) return count;
  }
  const serviceTier = readTier(scan);
  if (isRefusal(serviceTier)) return serviceTier;
  const nested = readNested(scan, nestedPaths);
  if (isRefusal(nested)) return nested;
  const asked = { scan, choices: choices ?? 1, ...(nested ? { nested } : {}) };
  return {
    ...asked,
    operation,
    params,
    model,
    stream,
    budget: null,
    serviceTier,
    weight: weighImages(scan),
    media: askedImages(asked),
  };
}

/** Whatever a client calls its files, here they are pictures; and one that is only named weighs as much. */
function weighImages(scan: Scan): InputWeight {
  const weight = weigh(scan, mediaKeys, 0);
  if (scan.upload) return { ...weight, images: scan.upload.files.length, audioVideoBytes: 0, fileBytes: 0 };
  const named = scan.collected.filter(({ type }) => type === 'string').length;
  return { ...weight, images: Math.max(named, weight.images) };
}
