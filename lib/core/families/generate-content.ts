import type { OfferFacts } from '#lib/core/facts/snapshot';
import { type Ask, type Family, type Operation, ownPath } from '#lib/core/families/family';
import { contentAbilities } from '#lib/core/families/generate-content/abilities';
import { readContentAsk } from '#lib/core/families/generate-content/ask';
import {
  cacheOperations,
  isOfCaches,
  readCacheAsk,
  readCacheUsage,
  shownCache,
} from '#lib/core/families/generate-content/caches';
import { contentEdits } from '#lib/core/families/generate-content/edits';
import { countFields, generateFields } from '#lib/core/families/generate-content/fields';
import {
  contentFileOperations,
  isOfFiles,
  readFileStart,
  shownContentFile,
} from '#lib/core/families/generate-content/files';
import { operationJobs, operationPath, shownIn } from '#lib/core/families/generate-content/operation';
import { contentOutputBytes } from '#lib/core/families/generate-content/output';
import { contentPrefixes, contentQuery, verbOf } from '#lib/core/families/generate-content/path';
import { predictFields, readPredictAsk } from '#lib/core/families/generate-content/predict';
import { resourceName, resourcePath } from '#lib/core/families/generate-content/resource';
import { ContentStream } from '#lib/core/families/generate-content/stream';
import { readContentUsage } from '#lib/core/families/generate-content/usage';
import { faultReader } from '#lib/core/families/reading/fault';

/** `alt=media` asks for the bytes of a file, `alt=json` for its description. */
const fileKind = /^(media|json)$/i;

const posted = {
  family: 'generate-content',
  method: 'POST',
  prefixes: contentPrefixes,
  query: contentQuery,
} as const;
const generated = {
  ...posted,
  steps: 'generate',
  budgeted: true,
  fields: generateFields,
  shows: false,
} as const;
/** What an operation made: read from the provider that stores it. */
const stored = {
  family: 'generate-content',
  method: 'GET',
  prefixes: contentPrefixes,
  steps: 'stored',
  fields: null,
  query: contentQuery,
} as const;
const operation = { kind: 'operation', param: 'id' } as const;

const operations: readonly Operation[] = [
  { ...generated, name: 'content.generate', path: 'models/{model+}:generateContent' },
  { ...generated, name: 'content.stream', path: 'models/{model+}:streamGenerateContent' },
  {
    ...posted,
    name: 'content.count',
    path: 'models/{model+}:countTokens',
    steps: 'count',
    fields: countFields,
    shows: false,
  },
  {
    ...posted,
    name: 'content.predictLongRunning',
    path: 'models/{model+}:predictLongRunning',
    steps: 'generate',
    fields: predictFields,
  },
  {
    ...stored,
    name: 'content.model_operation',
    path: 'models/{model+}/operations/{id}',
    resource: operation,
  },
  { ...stored, name: 'content.operation', path: 'operations/{id}', resource: operation },
  {
    ...stored,
    name: 'content.file',
    path: 'files/{id}:download',
    resource: { kind: 'file', param: 'id' },
    download: 'redirected',
    query: { alt: fileKind, $alt: fileKind },
    shows: false,
  },
  ...contentFileOperations,
  ...cacheOperations,
];

/** The generate-content family: the model is in the path, and the method's name says whether to stream. */
export const generateContent: Family = {
  id: 'generate-content',
  operations,
  streamsArrays: true,
  abilities: contentAbilities,
  readAsk: (raw) => {
    if (isOfCaches(raw.operation)) return readCacheAsk(raw);
    return raw.operation.name === 'content.predictLongRunning' ? readPredictAsk(raw) : readContentAsk(raw);
  },
  readStored: readFileStart,
  edits: contentEdits,
  upstreamPath: (ask, offer) =>
    storedPath(ask, offer) ?? `${resourcePath(resourceName(offer))}${verbOf(ask.operation)}`,
  credentialHeader: 'x-goog-api-key',
  readUsage: (ask, answer) => (ask.cache ? readCacheUsage(ask, answer) : readContentUsage(answer)),
  outputBytes: contentOutputBytes,
  streamReader: (ask) => new ContentStream(ask),
  faultOf: faultReader({
    sayings: [],
    notFound: /^not_found$/,
    missing: /^(you do not have permission to access the file |cachedcontent not found)/,
  }),
  // Its SDKs fail on anything that is not theirs, so a stream that broke is cut
  // (contract: routing/broken-stream, routing/generate-content-clean).
  breakFrame: () => null,
  shown: (operation, answer) => {
    if (isOfCaches(operation)) return shownCache(answer);
    return isOfFiles(operation) ? shownContentFile(answer) : shownIn(operation, answer);
  },
  jobs: operationJobs,
  signOfLife: null,
  clientPath: '/v1beta/models/{model}:generateContent',
  leastBody: { contents: [{ parts: [{ text: 'hello' }] }] },
};

/** Where something that is kept is read; null for a call of a model. */
function storedPath(ask: Ask, offer: OfferFacts): string | null {
  const { steps, resource, resumable, download } = ask.operation;
  const { id = '', upload = '' } = ask.params;
  if (isOfCaches(ask.operation)) return ownPath(ask);
  if (steps !== 'stored') return null;
  if (resumable) return resumable === 'start' ? '/files' : upload;
  return resource?.kind === 'file'
    ? `/files/${encodeURIComponent(id)}${download ? ':download' : ''}`
    : operationPath(resourceName(offer), id);
}
