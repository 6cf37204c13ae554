import { record } from '#tools/sandbox/content/tool-call';
import type { ReceivedRequest } from '#tools/sandbox/dialect';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';
import { readForm } from '#tools/sandbox/wire/read-form';

/** What a create call asks for, whichever way its body was written. */
export interface VideoAsk {
  readonly model: string;
  readonly prompt: string;
  readonly seconds: string;
  readonly size: string;
  /** Bytes of the picture that it starts from; 0: none. */
  readonly referenceBytes: number;
}

const known = new Set(['model', 'prompt', 'seconds', 'size', 'input_reference']);
const sizes = ['720x1280', '1280x720', '1024x1792', '1792x1024'];

/** @throws ProviderFault 400 in the family's words. */
export function readVideoAsk(seen: ReceivedRequest): VideoAsk {
  const { fields, referenceBytes } = readFields(seen);
  const strange = [...fields.keys()].find((name) => !known.has(name.replace(/\[.*/, '')));
  if (strange !== undefined) {
    throw new ProviderFault(400, `Unknown parameter: '${strange}'.`, 'unknown_parameter', strange);
  }
  const prompt = fields.get('prompt');
  if (!prompt) throw missing('prompt');
  const seconds = fields.get('seconds') ?? '4';
  if (!/^\d+$/.test(seconds)) throw invalid('seconds', seconds);
  const size = fields.get('size') ?? '720x1280';
  if (!sizes.includes(size)) throw invalid('size', size);
  return { model: fields.get('model') ?? 'echo', prompt, seconds, size, referenceBytes };
}

/** Of a remix: the prompt alone. */
export function readRemixPrompt(seen: ReceivedRequest): string {
  const prompt = readFields(seen).fields.get('prompt');
  if (!prompt) throw missing('prompt');
  return prompt;
}

function readFields(seen: ReceivedRequest): { fields: ReadonlyMap<string, string>; referenceBytes: number } {
  const form = readForm(seen);
  if (form !== null) {
    const file = form.files.find(({ name }) => name === 'input_reference');
    return { fields: new Map(form.texts), referenceBytes: file?.bytes.length ?? 0 };
  }
  let body: Record<string, unknown>;
  try {
    body = record(JSON.parse(seen.body.toString('utf8')));
  } catch {
    throw new ProviderFault(400, 'We could not parse the JSON body of your request.');
  }
  const { image_url: image } = record(body.input_reference);
  const plain = Object.entries(body).filter(([, value]) => value !== null);
  return {
    fields: new Map(plain.map(([name, value]) => [name, String(value)])),
    referenceBytes: typeof image === 'string' ? image.length : 0,
  };
}

function missing(name: string): ProviderFault {
  return new ProviderFault(400, `Missing required parameter: '${name}'.`, 'missing_required_parameter', name);
}

function invalid(name: string, value: string): ProviderFault {
  return new ProviderFault(400, `Invalid value: '${value}'.`, 'invalid_value', name);
}
