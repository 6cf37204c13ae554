import { record } from '#tools/sandbox/content/tool-call';
import type { ReceivedRequest } from '#tools/sandbox/dialect';
import {
  invalidValue,
  missingParameter,
  ProviderFault,
  unknownParameter,
} from '#tools/sandbox/scenario/provider-fault';
import { type Fields, readFields } from '#tools/sandbox/wire/read-form';

/** What a request for images asks for, in a form or as JSON. */
export interface ImagesAsk {
  readonly edit: boolean;
  readonly model: string;
  readonly prompt: string;
  readonly n: number;
  readonly size: string;
  readonly quality: string;
  readonly format: string;
  readonly stream: boolean;
  readonly partialImages: number;
  /** Bytes of each input picture, including masks. */
  readonly pictures: readonly number[];
  readonly svgModel: string | null;
}

const known = new Set(
  'background frame_count frame_duration_ms image images input_fidelity mask markup model moderation n output_compression output_format partial_images prompt quality response_format safety_identifier size stream style svg user'.split(
    ' ',
  ),
);
const qualities = ['low', 'medium', 'high', 'xhigh', 'max', 'auto', 'standard', 'hd'];

/** @throws ProviderFault 400 with the family's message. */
export function readImagesAsk(seen: ReceivedRequest): ImagesAsk {
  const edit = seen.path === '/images/edits';
  const fields = readFields(seen, known);
  const { texts, prompt } = fields;
  const pictures = picturesOf(fields);
  if (edit && pictures.length === 0) throw missingParameter('image');
  const empty = pictures.indexOf(0);
  if (empty >= 0) {
    throw new ProviderFault(400, 'Invalid image data.', 'invalid_image_file', `image[${empty}]`);
  }
  const size = texts.get('size') ?? 'auto';
  if (size !== 'auto' && !/^\d{2,4}x\d{2,4}$/.test(size)) throw invalidValue('size', size);
  const quality = texts.get('quality') ?? 'auto';
  if (!qualities.includes(quality)) throw invalidValue('quality', quality);
  const svgModel = texts.get('svg[model]') ?? record(fields.members.svg).model;
  return {
    edit,
    model: texts.get('model') ?? 'picture',
    prompt,
    n: whole(texts, 'n', { otherwise: 1, least: 1, most: 10 }),
    size,
    quality,
    format: texts.get('output_format') ?? 'png',
    stream: flag(texts, 'stream'),
    partialImages: whole(texts, 'partial_images', { otherwise: 0, least: 0, most: 3 }),
    pictures,
    svgModel: typeof svgModel === 'string' ? svgModel : null,
  };
}

/** Bytes of each picture of a form; of a JSON body, the length of each address or id. */
function picturesOf({ files, members: { images, mask } }: Fields): number[] {
  const strange = files.find(({ name }) => !/^(image(\[\])?|mask|markup)$/.test(name));
  if (strange) throw unknownParameter(strange.name);
  const named = [...(Array.isArray(images) ? images : []), ...(mask ? [mask] : [])].map((one) => {
    const { image_url: url, file_id: id } = record(one);
    return String(url ?? id ?? '').length;
  });
  return [...files.map(({ bytes }) => bytes.length), ...named];
}

function whole(
  texts: ReadonlyMap<string, string>,
  name: string,
  { otherwise, least, most }: { readonly otherwise: number; readonly least: number; readonly most: number },
): number {
  const text = texts.get(name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) throw invalidValue(name, text);
  return value;
}

function flag(texts: ReadonlyMap<string, string>, name: string): boolean {
  const text = texts.get(name) ?? 'false';
  if (text !== 'true' && text !== 'false') throw invalidValue(name, text);
  return text === 'true';
}
