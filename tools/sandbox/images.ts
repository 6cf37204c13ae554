import { textTokens } from '#tools/sandbox/content/tokens';
import { type Answer, type Dialect, type Frame, plainFrame, type Truth, whole } from '#tools/sandbox/dialect';
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
import type { UsageFigures } from '#tools/sandbox/scenario/behaviour';
import { findDirective, numberParam, parseName } from '#tools/sandbox/scenario/name';
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
        const printed = base === 'print';
        const tokens = tokensOf(ask, numberParam(name, 'text', 0));
        const none = { textIn: 0, imageIn: 0, textOut: 0, imageOut: 0 };
        const made: Made = {
          head: {
            created: Math.floor(seen.atMs / 1000),
            background: 'opaque',
            output_format: ask.format,
            quality: qualityOf(ask),
            size: sizeOf(ask),
          },
          tokens,
          figures: printed ? 'none' : behaviour.usage,
          picture: (which) =>
            pngOf(`${ask.prompt}\n${which}`, numberParam(name, 'bytes', 0)).toString('base64'),
        };
        const truth = truthOf(ask, printed ? none : tokens);
        return ask.stream
          ? { truth, content: { kind: 'stream', frames: frames(ask, made) } }
          : wholeAnswer(ask, made, behaviour.tier, truth);
      },
    };
  },

  errorBody: (fault) => JSON.stringify({ error: errorObject(fault, 'image_generation_user_error') }),

  errorEvent: ({ message, code }) => plainFrame('error', { error: { message, type: 'server_error', code } }),
};

/** The parts of an answer, whole or in events. */
interface Made {
  /** The members that every object of the answer has. */
  readonly head: { readonly created: number; readonly [name: string]: string | number };
  readonly tokens: ImageTokens;
  readonly figures: UsageFigures;
  /** A picture in Base64. */
  picture(which: string): string;
}

function wholeAnswer(
  ask: ImagesAsk,
  { head, tokens, figures, picture }: Made,
  tier: string | null,
  truth: Truth,
): Answer {
  const usage = imagesUsage(tokens, ask.n, figures, true);
  const body = {
    ...head,
    data: Array.from({ length: ask.n }, (_, index) => ({ b64_json: picture(`${index}`) })),
    ...(tier === null ? {} : { service_tier: tier }),
    ...(usage === undefined ? {} : { usage }),
    ...(ask.svgModel === null ? {} : { svg_usage: svgUsage(ask, ask.svgModel) }),
  };
  return whole(body, usage, truth);
}

function svgUsage(ask: ImagesAsk, model: string): object {
  const input = textTokens(ask.prompt);
  return { model, input_tokens: input, output_tokens: 40, reasoning_tokens: 10, total_tokens: input + 40 };
}

/** For each image, its partial pictures, then the finished one with this image's usage. */
function* frames(
  ask: ImagesAsk,
  { head: { created, ...head }, tokens, figures, picture }: Made,
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
      const shown = { b64_json: picture(`${index}.${partial}`), partial_image_index: partial };
      yield frame(`${kind}.partial_image`, shown, 100);
    }
    const usage = imagesUsage(tokens, 1, figures, false);
    const done = { b64_json: picture(`${index}`), ...(usage === undefined ? {} : { usage }) };
    yield frame(`${kind}.completed`, done, tokens.imageOut + tokens.textOut - 100 * ask.partialImages, usage);
  }
}
