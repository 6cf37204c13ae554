import { textTokens } from '#tools/sandbox/content/tokens';
import { type Answer, type Dialect, type Frame, plainFrame } from '#tools/sandbox/dialect';
import { type ImagesAsk, readImagesAsk } from '#tools/sandbox/images/ask';
import { pngOf } from '#tools/sandbox/images/png';
import {
  type ImageTokens,
  imagesUsage,
  qualityOf,
  sizeOf,
  tokensOf,
  truthOf,
} from '#tools/sandbox/images/usage';
import { getModel } from '#tools/sandbox/models';
import type { Behaviour, UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { findDirective, type ModelName, numberParam, parseName } from '#tools/sandbox/scenario/name';
import { errorObject } from '#tools/sandbox/scenario/provider-fault';

/**
 * The images family as api.openai.com speaks it. A name's parameters: `text=` tokens
 * of text beside each image, `bytes=` of each picture. The model `print` reports no usage.
 */
export const images: Dialect = {
  id: 'images',

  handles: (method, path) => method === 'POST' && /^\/images\/(generations|edits)$/.test(path),

  open(seen) {
    const ask = readImagesAsk(seen);
    const name = parseName(findDirective(ask.prompt) ?? ask.model);
    return {
      model: ask.model,
      stream: ask.stream,
      prompt: ask.prompt,
      answer(base, behaviour) {
        getModel(base);
        const figures = base === 'print' ? 'none' : behaviour.usage;
        const tokens = tokensOf(ask, numberParam(name, 'text', 0));
        const truth = base === 'print' ? printed(ask) : truthOf(ask, tokens);
        const head = headOf(ask, Math.floor(seen.atMs / 1000));
        const made = { head, tokens, figures, name };
        return ask.stream
          ? { truth, content: { kind: 'stream', frames: frames(ask, made) } }
          : { truth, content: whole(ask, made, behaviour) };
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'image_generation_user_error') }),

  errorEvent: ({ message, code }) => plainFrame('error', { error: { message, type: 'server_error', code } }),
};

/** What the answer repeats from its request. */
interface Head {
  readonly created: number;
  readonly background: string;
  readonly output_format: string;
  readonly quality: string;
  readonly size: string;
}

/** What an answer is made of, whole or in events. */
interface Made {
  readonly head: Head;
  readonly tokens: ImageTokens;
  readonly figures: UsageFigures;
  readonly name: ModelName;
}

function headOf(ask: ImagesAsk, created: number): Head {
  return {
    created,
    background: 'opaque',
    output_format: ask.format,
    quality: qualityOf(ask),
    size: sizeOf(ask),
  };
}

/** A model that is priced by the image counts no tokens. */
function printed(ask: ImagesAsk): Answer['truth'] {
  return { ...truthOf(ask, { textIn: 0, imageIn: 0, textOut: 0, imageOut: 0 }) };
}

function whole(
  ask: ImagesAsk,
  { head, tokens, figures, name }: Made,
  { tier }: Behaviour,
): Answer['content'] {
  const usage = imagesUsage(tokens, ask.n, figures, true);
  const body = {
    ...head,
    data: Array.from({ length: ask.n }, (_, index) => ({ b64_json: pictureOf(ask, name, `${index}`) })),
    ...(tier === null ? {} : { service_tier: tier }),
    ...(usage === undefined ? {} : { usage }),
    ...(ask.svgModel === null ? {} : { svg_usage: svgUsage(ask, ask.svgModel) }),
  };
  return { kind: 'whole', text: JSON.stringify(body), usage };
}

function svgUsage(ask: ImagesAsk, model: string): object {
  const input = textTokens(ask.prompt);
  return { model, input_tokens: input, output_tokens: 40, reasoning_tokens: 10, total_tokens: input + 40 };
}

/** Of each image its partial pictures, then the whole one with what this image used. */
function* frames(
  ask: ImagesAsk,
  { head: { created, ...head }, tokens, figures, name }: Made,
): Generator<Frame> {
  const kind = ask.edit ? 'image_edit' : 'image_generation';
  const frame = (type: string, extra: object, spent: number, usage?: unknown): Frame => ({
    name: type,
    data: JSON.stringify({ type, created_at: created, ...head, ...extra }),
    content: true,
    tokens: spent,
    ...(usage === undefined ? {} : { usage }),
  });
  for (let index = 0; index < ask.n; index++) {
    for (let partial = 0; partial < ask.partialImages; partial++) {
      const picture = { b64_json: pictureOf(ask, name, `${index}.${partial}`), partial_image_index: partial };
      yield frame(`${kind}.partial_image`, picture, 100);
    }
    const usage = imagesUsage(tokens, 1, figures, false);
    const done = { b64_json: pictureOf(ask, name, `${index}`), ...(usage === undefined ? {} : { usage }) };
    yield frame(`${kind}.completed`, done, tokens.imageOut + tokens.textOut - 100 * ask.partialImages, usage);
  }
}

function pictureOf(ask: ImagesAsk, name: ModelName, which: string): string {
  return pngOf(`${ask.prompt}\n${which}`, numberParam(name, 'bytes', 0)).toString('base64');
}
