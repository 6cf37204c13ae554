import type { Speaker } from '#tests/gateway/contract/speaker';
import { record } from '#tools/sandbox/content/tool-call';
import type { EndLine } from '#tools/sandbox/truth-log';

/** Nano-dollars a token of sandbox/picture: $5, $10, $12 and $40 a million. */
const rates = { textIn: 5_000n, imageIn: 10_000n, textOut: 12_000n, imageOut: 40_000n };
/** Tokens of a square picture of low quality, and of a partial one. */
const pictureTokens = 272;
const partialTokens = 100;

const base = {
  family: 'images',
  piece: '"b64_json"',
  credential: 'authorization',
  model: 'sandbox/picture',
  drained: 'test/picture-drained',
  rates: { input: rates.textIn, output: rates.imageOut },
  fair: fairPictures,
  written: ({ type, data }) =>
    4 *
    (type === undefined
      ? [data ?? []].flat().length * pictureTokens
      : /\.completed$/.test(String(type))
        ? pictureTokens
        : /\.partial_image$/.test(String(type))
          ? partialTokens
          : 0),
  // Each picture tells what it used when it is there.
  broken: { usageSource: 'reported', tellsInput: 'by piece', nano: fairPictures },
  frame: { start: 'event: error\n', keys: ['error'] },
} satisfies Partial<Speaker>;

const generations = {
  operation: 'images.generate',
  target: () => '/v1/images/generations',
  upstreamTarget: '/images/generations',
  received: (text: string, model: string) => text.replace(`"${model}"`, '"picture"'),
} as const;

const asked = { size: '1024x1024', quality: 'low' };

const boundary = 'a-boundary';
const part = (head: string, body: string) =>
  `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
const picture = 'a picture, by its name';

/** Its model stands behind the file, as some clients write it. */
const form = (model: string, prompt: string) =>
  [
    part('name="prompt"', prompt),
    ...Object.entries(asked).map(([name, value]) => part(`name="${name}"`, value)),
    part('name="image"; filename="a.png"\r\nContent-Type: image/png', picture),
    part('name="model"', model),
    `--${boundary}--\r\n`,
  ].join('');

export const imagesSpeakers: readonly Speaker[] = [
  {
    ...base,
    ...generations,
    name: 'images',
    streamed: false,
    body: (model, prompt) => JSON.stringify({ model, prompt, n: 2, ...asked }),
  },
  {
    ...base,
    ...generations,
    name: 'images, streamed',
    streamed: true,
    framing: 'events',
    body: (model, prompt) =>
      JSON.stringify({ model, prompt, stream: true, partial_images: 1, n: 10, ...asked }),
  },
  {
    ...base,
    name: 'images, edited by a form',
    operation: 'images.edit',
    streamed: false,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    target: () => '/v1/images/edits',
    upstreamTarget: '/images/edits',
    body: form,
    // Of a form its texts count as text, and each file as a picture.
    inputNano: (body) => {
      const texts = [...body.matchAll(/name="\w+"\r\n\r\n(.*)\r\n/g)].map(([, text = '']) => text);
      const tokens = Math.ceil(texts.join('').length / 4);
      return BigInt(tokens) * rates.textIn + 2_500n * rates.imageIn;
    },
    received: (text, model) => text.replace(`\r\n\r\n${model}\r\n`, '\r\n\r\npicture\r\n'),
  },
];

/** The usage of every picture that was sent, as it was sent. */
function fairPictures(end: EndLine): bigint {
  const sent = Buffer.from(end.sent ?? '', 'base64').toString();
  const lines = sent.startsWith('{')
    ? [sent]
    : sent.split(/\r\n|\r|\n/).map((line) => line.replace(/^data: /, ''));
  let nano = 0n;
  for (const line of lines.filter((text) => text.includes('"usage"'))) {
    const usage = record(record(JSON.parse(line)).usage);
    const into = record(usage.input_tokens_details);
    const out = record(usage.output_tokens_details);
    // What is no image is text: fractions that were rounded up do not add up to the total.
    const [seen, drawn] = [count(into.image_tokens), count(out.image_tokens ?? usage.output_tokens)];
    nano += (count(usage.input_tokens) - seen) * rates.textIn + seen * rates.imageIn;
    nano += (count(usage.output_tokens) - drawn) * rates.textOut + drawn * rates.imageOut;
  }
  return nano;
}

function count(value: unknown): bigint {
  return typeof value === 'number' && value > 0 ? BigInt(Math.ceil(value)) : 0n;
}
