import type { Refusal } from '#lib/core/errors';
import { replaceValue } from '#lib/core/families/edits';
import type { Ask, Edit, Family, Operation, RawAsk } from '#lib/core/families/family';
import { contentMediaKeys } from '#lib/core/families/generate-content/ask';
import { contentPrefixes, contentQuery, verbOf } from '#lib/core/families/generate-content/path';
import { resourceName, resourcePath } from '#lib/core/families/generate-content/resource';
import { readContentUsage } from '#lib/core/families/generate-content/usage';
import { EventReader } from '#lib/core/families/reading/event-reader';
import { faultReader } from '#lib/core/families/reading/fault';
import { wrongType } from '#lib/core/families/reading/fields';
import { weigh } from '#lib/core/families/reading/weight';

const posted = {
  family: 'embed-content',
  method: 'POST',
  prefixes: contentPrefixes,
  query: contentQuery,
  steps: 'generate',
  sameModel: true,
} as const;

const operations: readonly Operation[] = [
  { ...posted, name: 'content.embed', path: 'models/{model+}:embedContent', fields: { model: {} } },
  {
    ...posted,
    name: 'content.embed_batch',
    path: 'models/{model+}:batchEmbedContents',
    fields: { model: {}, requests: { each: { model: {} } } },
  },
];

/** Embeddings as Google's API speaks them: the model is in the path, and repeated in the body. */
export const embedContent: Family = {
  id: 'embed-content',
  operations,
  readAsk: readEmbedAsk,
  edits: ({ repeatedModel = [] }, offer) => {
    const name = resourceName(offer);
    return repeatedModel
      .filter(({ value }) => value !== name)
      .map((found): Edit => replaceValue(found, JSON.stringify(name)));
  },
  upstreamPath: ({ operation }, offer) => `${resourcePath(resourceName(offer))}${verbOf(operation)}`,
  credentialHeader: 'x-goog-api-key',
  readUsage: (_ask, answer) => readContentUsage(answer),
  outputBytes: () => 0,
  streamReader: () => new EventReader(),
  faultOf: faultReader({ sayings: [], notFound: /^not_found$/ }),
  breakFrame: () => null,
  signOfLife: null,
  clientPath: '/v1beta/models/{model}:embedContent',
  leastBody: { content: { parts: [{ text: 'hello' }] } },
};

/** The path names the model; names in the body are replaced with it (contract: families/path-model). */
function readEmbedAsk(raw: RawAsk): Ask | Refusal {
  const { params, scan } = raw;
  const named = [scan.found.get('model'), ...scan.collected].filter((found) => found !== undefined);
  const wrong = named.find(({ value }) => typeof value !== 'string');
  if (wrong) return wrongType(wrong, 'a string');
  return {
    ...raw,
    model: params.model ?? '',
    stream: false,
    budget: null,
    choices: 1,
    serviceTier: null,
    weight: weigh(scan, contentMediaKeys, 0),
    ...(named.length > 0 ? { repeatedModel: named } : {}),
  };
}
