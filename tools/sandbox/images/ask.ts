import { record } from '#tools/sandbox/content/tool-call';
import type { ReceivedRequest } from '#tools/sandbox/dialect';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { readForm } from '#tools/sandbox/wire/read-form';

/** What a request for images asks for, whichever way its body was written. */
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
  /** Bytes of each picture that came in, masks included. */
  readonly pictures: readonly number[];
  readonly svgModel: string | null;
}

const known = new Set(
  'background frame_count frame_duration_ms image images mask markup model moderation n output_compression output_format partial_images prompt quality response_format safety_identifier size stream style svg user'.split(
    ' ',
  ),
);
const qualities = ['low', 'medium', 'high', 'xhigh', 'max', 'auto', 'standard', 'hd'];

/** @throws ProviderFault 400 in the family's words. */
export function readImagesAsk(seen: ReceivedRequest): ImagesAsk {
  const edit = seen.path === '/images/edits';
  const { fields, pictures } = readForm(seen) ? formFields(seen) : jsonFields(seen);
  const strange = [...fields.keys()].find((name) => !known.has(name.replace(/\[.*/, '')));
  if (strange !== undefined) {
    throw new ProviderFault(400, `Unknown parameter: '${strange}'.`, 'unknown_parameter', strange);
  }
  const prompt = fields.get('prompt');
  if (!prompt) throw missing('prompt');
  if (edit && pictures.length === 0) throw missing('image');
  const empty = pictures.indexOf(0);
  if (empty >= 0) {
    throw new ProviderFault(400, 'Invalid image data.', 'invalid_image_file', `image[${empty}]`);
  }
  const size = fields.get('size') ?? 'auto';
  if (size !== 'auto' && !/^\d{2,4}x\d{2,4}$/.test(size)) throw invalid('size', size);
  const quality = fields.get('quality') ?? 'auto';
  if (!qualities.includes(quality)) throw invalid('quality', quality);
  return {
    edit,
    model: fields.get('model') ?? 'picture',
    prompt,
    n: whole(fields, 'n', { otherwise: 1, least: 1, most: 10 }),
    size,
    quality,
    format: fields.get('output_format') ?? 'png',
    stream: flag(fields, 'stream'),
    partialImages: whole(fields, 'partial_images', { otherwise: 0, least: 0, most: 3 }),
    pictures,
    svgModel: fields.get('svg[model]') ?? null,
  };
}

interface Fields {
  readonly fields: ReadonlyMap<string, string>;
  readonly pictures: readonly number[];
}

function formFields(seen: ReceivedRequest): Fields {
  const form = readForm(seen);
  const files = form?.files ?? [];
  const wrong = files.find(({ name }) => !/^(image(\[\])?|mask|markup)$/.test(name));
  if (wrong) {
    throw new ProviderFault(400, `Unknown parameter: '${wrong.name}'.`, 'unknown_parameter', wrong.name);
  }
  return { fields: new Map(form?.texts), pictures: files.map(({ bytes }) => bytes.length) };
}

function jsonFields(seen: ReceivedRequest): Fields {
  let body: Record<string, unknown>;
  try {
    body = record(JSON.parse(seen.body.toString('utf8')));
  } catch {
    throw new ProviderFault(400, 'We could not parse the JSON body of your request.');
  }
  const { images, mask, svg, ...plain } = body;
  const told = Object.entries(plain).filter(([, value]) => value !== null);
  const fields = new Map(told.map(([name, value]) => [name, String(value)]));
  const svgModel = record(svg).model;
  if (typeof svgModel === 'string') fields.set('svg[model]', svgModel);
  const pictures = [...(Array.isArray(images) ? images : []), ...(mask ? [mask] : [])].map((one) => {
    const { image_url: url, file_id: id } = record(one);
    return String(url ?? id ?? '').length;
  });
  return { fields, pictures };
}

function whole(
  fields: ReadonlyMap<string, string>,
  name: string,
  { otherwise, least, most }: { readonly otherwise: number; readonly least: number; readonly most: number },
): number {
  const text = fields.get(name);
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most) throw invalid(name, text);
  return value;
}

function flag(fields: ReadonlyMap<string, string>, name: string): boolean {
  const text = fields.get(name) ?? 'false';
  if (text !== 'true' && text !== 'false') throw invalid(name, text);
  return text === 'true';
}

function missing(name: string): ProviderFault {
  return new ProviderFault(400, `Missing required parameter: '${name}'.`, 'missing_required_parameter', name);
}

function invalid(name: string, value: string): ProviderFault {
  return new ProviderFault(400, `Invalid value: '${value}'.`, 'invalid_value', name);
}
