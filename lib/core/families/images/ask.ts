import { isRefusal, type Refusal } from '#lib/core/errors';
import type { ResourceReference } from '#lib/core/facts/resource';
import type { Ask, InputWeight, RawAsk } from '#lib/core/families/family';
import { askedImages } from '#lib/core/families/images/media';
import { readNested } from '#lib/core/families/nested';
import {
  readFlag,
  readModel,
  readText,
  readTier,
  readWhole,
  takeAll,
} from '#lib/core/families/reading/fields';
import { readFiles } from '#lib/core/families/reading/stored-files';
import { weigh } from '#lib/core/families/reading/weight';
import type { Scan } from '#lib/core/families/scan';

/** Where a body carries inline images. */
const mediaKeys: ReadonlySet<string> = new Set(['image_url', 'b64_json', 'url']);
/** Where it names the model that draws vector graphics (contract: admission/nested-models). */
const nestedPaths = ['svg.model'];

/** What a request for images asks for. It has no output budget. */
export function readImagesAsk(raw: RawAsk): Ask | Refusal {
  const { scan } = raw;
  const read = takeAll({
    model: readModel(scan),
    stream: readFlag(scan, 'stream'),
    choices: readWhole(scan, 'n', 1),
    size: readText(scan, 'size'),
    quality: readText(scan, 'quality'),
    outputFormat: readText(scan, 'output_format'),
    partialImages: readWhole(scan, 'partial_images', 0),
    frames: readWhole(scan, 'frame_count', 0),
    serviceTier: readTier(scan),
    nested: readNested(scan, nestedPaths),
    files: readFiles(scan),
    mask: readText(scan, 'mask.file_id'),
  });
  if (isRefusal(read)) return read;
  const { model, stream, choices, serviceTier, nested, files, mask } = read;
  const references: readonly ResourceReference[] =
    mask === null ? files : [...files, { kind: 'file', id: mask, required: true }];
  const asked = { ...raw, choices: choices ?? 1, ...(nested ? { nested } : {}) };
  return {
    ...asked,
    model,
    stream,
    budget: null,
    serviceTier,
    weight: weighImages(scan),
    media: askedImages(asked),
    ...(references.length === 0 ? {} : { references }),
  };
}

/** Whatever a client calls its files, here they are pictures; and one that is only named weighs as much. */
function weighImages(scan: Scan): InputWeight {
  const weight = weigh(scan, mediaKeys, 0);
  if (scan.upload) return { ...weight, images: scan.upload.files.length, audioVideoBytes: 0, fileBytes: 0 };
  const named = scan.collected.filter(({ type }) => type === 'string').length;
  return { ...weight, images: Math.max(named, weight.images) };
}
