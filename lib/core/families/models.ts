import type { Refusal } from '#lib/core/errors';
import type { Operation } from '#lib/core/families/family';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import { type CallableModel, codexList } from '#lib/core/families/models/codex';
import { contentEntry, sharedEntry } from '#lib/core/families/models/entry';
import { contentPage, sharedPage } from '#lib/core/families/models/page';

type Prefixes = Operation['prefixes'];

/** The newest generate-content SDK asks under `/v1`, older ones under the other two. */
const mixed: Prefixes = ['v1'];
const contentOnly: Prefixes = ['v1beta', 'v1alpha'];

/** What the gateway answers itself (contract: families/model-lists). */
export const modelsOperations: readonly Operation[] = [mixed, contentOnly].flatMap((prefixes) => [
  operation('models.list', 'models', prefixes),
  operation('models.read', 'models/{model+}', prefixes),
]);

function operation(name: string, path: string, prefixes: Prefixes): Operation {
  return { name, family: 'models', method: 'GET', path, prefixes, steps: 'models', fields: null };
}

/** What of a request decides how models are shown. */
interface ModelsRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: string;
}

/**
 * The answer of a models operation: outside `/v1` always in the generate-content shape; on `/v1` for a
 * client that shows its key as that family does, in `x-goog-api-key` or `?key=`; else one object that
 * the chat-family and the messages-family SDKs both read.
 * @param models those that the key may see, with the offers that it can use, in catalogue order.
 * @returns null when the one that was asked for is not among them; `invalid_body` for invalid paging.
 */
export function modelsAnswer(
  operation: Operation,
  { params, headers, query }: ModelsRequest,
  models: readonly CallableModel[],
): object | null | Refusal {
  const asked = new URLSearchParams(query);
  const content = isForContent(operation, { headers, query });
  if (operation.name === 'models.list')
    return content ? contentList(models, asked) : sharedList(models, asked);
  const model = models.find(({ id }) => id === params.model);
  if (!model) return null;
  return content ? contentEntry(model) : sharedEntry(model);
}

/** Protocols whose clients are recognized by their headers or query. */
const ownLists: ReadonlySet<FamilyId> = new Set(['messages', 'generate-content', 'embed-content']);

/** The protocols of the client that asks: it is shown the models that it can call (contract: families/model-lists). */
export function listedFamilies(
  operation: Operation,
  request: Pick<ModelsRequest, 'headers' | 'query'>,
): readonly FamilyId[] {
  if (isForContent(operation, request)) return ['generate-content', 'embed-content'];
  const { headers } = request;
  const ofMessages = headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined;
  return ofMessages ? ['messages'] : familyIds.filter((family) => !ownLists.has(family));
}

function isForContent(
  { prefixes }: Operation,
  { headers, query }: Pick<ModelsRequest, 'headers' | 'query'>,
): boolean {
  const ownKey = headers['x-goog-api-key'] !== undefined || new URLSearchParams(query).has('key');
  return ownKey || !prefixes.includes('v1');
}

function contentList(models: readonly CallableModel[], query: URLSearchParams): object | Refusal {
  const page = contentPage(models, query);
  if ('code' in page) return page;
  return {
    models: page.models.map(contentEntry),
    ...(page.token === null ? {} : { nextPageToken: page.token }),
  };
}

function sharedList(models: readonly CallableModel[], query: URLSearchParams): object | Refusal {
  const page = sharedPage(models, query);
  if ('code' in page) return page;
  return {
    object: 'list',
    data: page.models.map(sharedEntry),
    has_more: page.more,
    first_id: page.models[0]?.id ?? null,
    last_id: page.models.at(-1)?.id ?? null,
    ...(query.get('client_version') ? { models: codexList(page.models) } : {}),
  };
}
