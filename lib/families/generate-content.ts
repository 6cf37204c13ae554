import type { Family, Operation } from '#lib/families/family';
import { readContentAsk } from '#lib/families/generate-content/ask';
import { contentEdits } from '#lib/families/generate-content/edits';
import { countFields, generateFields } from '#lib/families/generate-content/fields';
import { contentOutputBytes } from '#lib/families/generate-content/output';
import { contentQuery } from '#lib/families/generate-content/query';
import { resourceName, resourcePath } from '#lib/families/generate-content/resource';
import { contentStreamReader } from '#lib/families/generate-content/stream';
import { readContentUsage } from '#lib/families/generate-content/usage';
import { namesInvalidKey } from '#lib/families/reading/operator-fault';

/** The newest SDK asks under `/v1`, older ones under the other two (decisions §11). */
const prefixes: Operation['prefixes'] = ['v1', 'v1beta', 'v1alpha'];

/** The generate-content family: the model stands in the path, and the method's name says whether to stream. */
export const generateContent: Family = {
  id: 'generate-content',
  operations: [
    {
      name: 'content.generate',
      family: 'generate-content',
      method: 'POST',
      path: 'models/{model+}:generateContent',
      prefixes,
      steps: 'generate',
      fields: generateFields,
    },
    {
      name: 'content.stream',
      family: 'generate-content',
      method: 'POST',
      path: 'models/{model+}:streamGenerateContent',
      prefixes,
      steps: 'generate',
      fields: generateFields,
    },
    {
      name: 'content.count',
      family: 'generate-content',
      method: 'POST',
      path: 'models/{model+}:countTokens',
      prefixes,
      steps: 'count',
      fields: countFields,
    },
  ],
  streamsArrays: true,
  readAsk: readContentAsk,
  edits: contentEdits,
  injectsUsage: () => false,
  upstreamPath: (ask, offer) => `${resourcePath(resourceName(offer))}${verbOf(ask.operation)}`,
  upstreamQuery: contentQuery,
  credentialHeader: (secret) => ['x-goog-api-key', secret],
  readUsage: (_ask, answer) => readContentUsage(answer),
  outputBytes: contentOutputBytes,
  streamReader: contentStreamReader,
  isOperatorFault: (status, body) =>
    status === 401 || status === 402 || status === 403 || (status === 400 && namesInvalidKey(body)),
  // Its SDKs break on anything that is not theirs: a stream that broke is cut (decisions §12).
  breakFrame: () => null,
  clientPath: '/v1beta/models/{model}:generateContent',
};

/** ":generateContent": what stands after the model in the operation's path. */
function verbOf({ path }: Operation): string {
  return path.slice(path.lastIndexOf(':'));
}
