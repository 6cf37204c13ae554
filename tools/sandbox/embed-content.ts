import { textTokens } from '#tools/sandbox/content/tokens';
import { readJson, record } from '#tools/sandbox/content/tool-call';
import { vectorOf } from '#tools/sandbox/content/vector';
import { type Dialect, freeOfCharge, whole } from '#tools/sandbox/dialect';
import { generateContent } from '#tools/sandbox/generate-content';
import { reported } from '#tools/sandbox/scenario/bend';
import { ProviderFault } from '#tools/sandbox/scenario/provider-fault';

const methodPath = /^\/models\/(.+):(embedContent|batchEmbedContents)$/;
const USUAL_DIMENSIONS = 64;

/** Embeddings as generativelanguage.googleapis.com returns them. */
export const embedContent: Dialect = {
  ...generateContent,
  id: 'embed-content',

  handles: (method, path) => method === 'POST' && methodPath.test(path),

  open(seen) {
    const [, written = '', method = ''] = methodPath.exec(seen.path) ?? [];
    const model = decodeURIComponent(written);
    const asked = readJson(seen.body, 'Invalid JSON payload received.');
    const single = method === 'embedContent';
    const requests = single ? [asked] : [asked.requests ?? []].flat().map(record);
    if (requests.length === 0) {
      throw new ProviderFault(400, '* BatchEmbedContentsRequest.requests: at least one request is required');
    }
    const texts = requests.map((request) => {
      if ((request.model !== undefined || !single) && request.model !== `models/${model}`)
        throw new ProviderFault(400, `* model: "${String(request.model)}" is not the model of the path`);
      return textIn(request.content);
    });
    const made = requests.map((request, index) => ({
      values: vectorOf(texts[index] ?? '', dimensionsIn(request)),
    }));
    const inputTokens = texts.reduce((sum, text) => sum + textTokens(text), 0);
    return {
      model,
      stream: false,
      prompt: texts[0] ?? '',
      answer(_base, { usage }) {
        const figures = reported(usage, (bend) => ({ promptTokenCount: bend(inputTokens) }));
        const body = single ? { embedding: made[0] } : { embeddings: made };
        const usageField = figures === undefined ? {} : { usageMetadata: figures };
        return whole({ ...body, ...usageField }, figures, { ...freeOfCharge, inputTokens });
      },
    };
  },
};

function textIn(content: unknown): string {
  const parts = [record(content).parts ?? []].flat().map(record);
  const text = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join('\n');
  if (text === '') throw new ProviderFault(400, '* EmbedContentRequest.content: contents is not specified');
  return text;
}

function dimensionsIn(request: Record<string, unknown>): number {
  const config = record(request.embedContentConfig);
  const asked = request.outputDimensionality ?? request.output_dimensionality ?? config.outputDimensionality;
  return typeof asked === 'number' ? asked : USUAL_DIMENSIONS;
}
