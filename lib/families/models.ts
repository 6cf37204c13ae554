import type { Operation } from '#lib/families/family';
import type { ModelFacts } from '#lib/snapshot/snapshot';

type Prefixes = Operation['prefixes'];

/** The newest generate-content SDK asks under `/v1`, older ones under the other two. */
const mixed: Prefixes = ['v1'];
const contentOnly: Prefixes = ['v1beta', 'v1alpha'];

/** What the gateway answers by itself (decisions §11 "models"). */
export const modelsOperations: readonly Operation[] = [mixed, contentOnly].flatMap((prefixes) => [
  operation('models.list', 'models', prefixes),
  operation('models.read', 'models/{model+}', prefixes),
]);

function operation(name: string, path: string, prefixes: Prefixes): Operation {
  return { name, family: 'models', method: 'GET', path, prefixes, steps: 'models', fields: null };
}

/**
 * The answer of a models operation: outside `/v1` always in the generate-content shape; on `/v1` for a
 * client that shows its key as that family does, in `x-goog-api-key` or `?key=`; else one object that
 * the chat-family and the messages-family SDKs both read.
 * @param models those that the key may see and use, in catalogue order.
 * @returns null when the one that was asked for is not among them.
 */
export function modelsAnswer(
  operation: Operation,
  params: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string | undefined>>,
  query: string,
  models: readonly ModelFacts[],
): object | null {
  const ownKey = headers['x-goog-api-key'] !== undefined || new URLSearchParams(query).has('key');
  const content = ownKey || !operation.prefixes.includes('v1');
  if (operation.name === 'models.list') {
    return content ? { models: models.map(contentEntry) } : sharedList(models);
  }
  const model = models.find(({ id }) => id === params.model);
  if (!model) return null;
  return content ? contentEntry(model) : sharedEntry(model);
}

function sharedList(models: readonly ModelFacts[]): object {
  return {
    object: 'list',
    data: models.map(sharedEntry),
    has_more: false,
    first_id: models[0]?.id ?? null,
    last_id: models.at(-1)?.id ?? null,
  };
}

function sharedEntry(model: ModelFacts): object {
  return {
    id: model.id,
    object: 'model',
    created: Math.floor(model.createdAtMs / 1000),
    owned_by: ownerOf(model),
    type: 'model',
    display_name: model.name,
    created_at: new Date(model.createdAtMs).toISOString(),
  };
}

function contentEntry(model: ModelFacts): object {
  return {
    name: `models/${model.id}`,
    version: 'default',
    displayName: model.name,
    description: `${model.name} (${model.id})`,
    inputTokenLimit: model.contextTokens,
    outputTokenLimit: model.maxOutputTokens,
    supportedGenerationMethods: methodsOf(model),
  };
}

/** The vendor in front of the slug's slash, else the first provider. */
function ownerOf(model: ModelFacts): string {
  const slash = model.id.indexOf('/');
  return slash > 0 ? model.id.slice(0, slash) : (model.offers[0]?.provider.id ?? 'unknown');
}

/** Methods of the generate-content family; none for a model that no offer serves in it. */
function methodsOf(model: ModelFacts): readonly string[] {
  if (!model.offers.some((offer) => offer.families.has('generate-content'))) return [];
  return model.output.includes('video') ? ['predictLongRunning'] : ['generateContent', 'countTokens'];
}
