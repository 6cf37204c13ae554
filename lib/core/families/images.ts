import { modelEdits } from '#lib/core/families/edits';
import { type Family, type Operation, ownPath } from '#lib/core/families/family';
import { readImagesAsk } from '#lib/core/families/images/ask';
import { editFields, generateFields } from '#lib/core/families/images/fields';
import { imagesOutputBytes } from '#lib/core/families/images/output';
import { ImagesStream } from '#lib/core/families/images/stream';
import { readImagesUsage } from '#lib/core/families/images/usage';
import { faultReader } from '#lib/core/families/reading/fault';

const base = {
  family: 'images',
  method: 'POST',
  prefixes: ['v1'],
  steps: 'generate',
  wholeMs: 300_000,
} as const;

const operations: readonly Operation[] = [
  { ...base, name: 'images.generate', path: 'images/generations', fields: generateFields },
  { ...base, name: 'images.edit', path: 'images/edits', fields: editFields, multipart: true },
];

/** The images family: generations and edits, whole and as streams of partial images. */
export const images: Family = {
  id: 'images',
  operations,
  readAsk: readImagesAsk,
  edits: ({ scan }, { upstreamModel }) => modelEdits(scan, upstreamModel),
  upstreamPath: ownPath,
  credentialHeader: 'authorization',
  readUsage: readImagesUsage,
  outputBytes: imagesOutputBytes,
  streamReader: (ask) => new ImagesStream(ask),
  faultOf: faultReader({ sayings: [] }),
  breakFrame: ({ message, code }) =>
    `event: error\ndata: ${JSON.stringify({ error: { message, code } })}\n\n`,
  signOfLife: ': keep-alive\n\n',
  clientPath: '/v1/images/generations',
  leastBody: { prompt: 'hello' },
};
