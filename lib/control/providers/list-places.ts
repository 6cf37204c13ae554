import {
  profilesQuery,
  publisherQuery,
  readAzureModels,
  readFoundationModels,
  readInferenceProfiles,
  readPublisherModels,
} from '#lib/control/providers/cloud-lists';
import { type ListedEntry, type ListPage, readModelList } from '#lib/control/providers/model-list';
import type { ProviderFacts } from '#lib/core/facts/snapshot';
import { type FamilyId, familyIds } from '#lib/core/families/ids';

/** A list, or one of several that are read one after the other. */
export interface ListSource {
  readonly url: URL;
  /** Of the first page. */
  readonly query: Readonly<Record<string, string>>;
  /** Sent beside the credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** In notes about what could not be read. */
  readonly name: string;
  /** What a credential needs to read it; null: nothing that has a name. */
  readonly needs: string | null;
  /** @param before what was read of all lists so far. @returns null if it is no such list. */
  read(body: unknown, before: readonly ListedEntry[]): ListPage | null;
}

/** Where a provider's list of models is, and by which family its credential is sent. */
export interface ListPlace {
  readonly style: 'openai' | 'anthropic' | 'google' | 'bedrock' | 'vertex';
  readonly family: FamilyId;
  readonly lists: readonly [ListSource, ...ListSource[]];
  /** What its names are, if calls cannot use all of them as they are. */
  readonly note: string | null;
}

type Spoken = Pick<ProviderFacts, 'families' | 'credentialHeaders' | 'auth'>;

/** null: it has no usable address. Pure. */
export function listPlaceOf(provider: Spoken): ListPlace | null {
  const { families: addresses, credentialHeaders, auth } = provider;
  const at = (family: FamilyId) => {
    const address = addresses.get(family);
    return address?.state === 'ready' ? address.url : null;
  };
  const cloud =
    auth?.kind === 'aws-sigv4' ? bedrock(at) : auth?.kind === 'google-service-account' ? vertex(at) : null;
  if (cloud) return cloud;
  const place = (family: FamilyId, style: 'openai' | 'anthropic' | 'google'): ListPlace | null => {
    const root = at(family);
    if (root === null) return null;
    const url = new URL(`${root.pathname.replace(/\/+$/, '')}/models`, root.origin);
    const plain = { url, query: queries[style], headers: headers[style], name: 'models', needs: null };
    if (auth?.kind === 'entra-id') return { style, family, lists: [{ ...plain, ...azure }], note: azureNote };
    return { style, family, lists: [{ ...plain, read: readModelList }], note: null };
  };
  const [content, messages] = [place('generate-content', 'google'), place('messages', 'anthropic')];
  if (content) return content;
  const others = familyIds.filter((family) => family !== 'messages' && family !== 'embed-content');
  const open = others.flatMap((family) => place(family, 'openai') ?? [])[0] ?? null;
  // Anthropic's own list needs its header; a host that takes a bearer token for messages lists models as OpenAI does.
  const same = messages?.lists[0].url.href === open?.lists[0].url.href;
  return same && messages && !credentialHeaders.has('messages') ? messages : (open ?? messages);
}

const queries = { openai: {}, anthropic: {}, google: { pageSize: '1000' } } as const;
const headers = { openai: {}, anthropic: { 'anthropic-version': '2023-06-01' }, google: {} } as const;

const azure = {
  needs: 'the role Cognitive Services OpenAI User on the resource',
  read: (body: unknown) => readAzureModels(readModelList(body), body),
};
const azureNote =
  'These are the models that the resource may deploy, not its deployments, which only the management API of Azure lists. Calls name deployments: choose a model that has a deployment of the same name, and enter the names of other deployments yourself.';

type At = (family: FamilyId) => URL | null;

/** The hosts of Bedrock's calls; its lists are at the host of its control plane in the same region. */
const runtimeHost = /^bedrock-runtime(-fips)?\.([a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|api\.aws))$/;

/** null: the address is of the endpoint that lists models as OpenAI does, or it is none. */
function bedrock(at: At): ListPlace | null {
  const family = (['messages', 'chat'] as const).find((one) => at(one) !== null);
  const address = family ? at(family) : null;
  if (!family || !address || /^bedrock-mantle\./.test(address.hostname)) return null;
  const root = address.pathname.replace(/(\/openai\/v1)?\/*$/, '');
  const [, fips = '', place] = runtimeHost.exec(address.hostname) ?? [];
  const origin = place ? `${address.protocol}//bedrock${fips}.${place}` : address.origin;
  const source = (path: string) => ({ url: new URL(`${root}/${path}`, origin), headers: {} });
  return {
    style: 'bedrock',
    family,
    lists: [
      {
        ...source('foundation-models'),
        query: {},
        name: 'models',
        needs: 'the permission bedrock:ListFoundationModels',
        read: readFoundationModels,
      },
      {
        ...source('inference-profiles'),
        query: profilesQuery,
        name: 'inference profiles',
        needs: 'the permission bedrock:ListInferenceProfiles',
        read: readInferenceProfiles,
      },
    ],
    note: 'These are the models that this region serves on demand, and inference profiles, which may send calls to other regions at other prices. The lists do not say which models your account has access to, nor which ones other than Claude the OpenAI-compatible API serves: test a model after you have added it.',
  };
}

/** Publishers whose models Google serves by its OpenAI-compatible API. */
const openPublishers = ['meta', 'deepseek-ai', 'qwen', 'openai', 'moonshotai', 'minimaxai', 'zai-org', 'xai'];

/** null: no address names a project, as behind a proxy with paths of its own. */
function vertex(at: At): ListPlace | null {
  const [content, messages, chat] = [at('generate-content'), at('messages'), at('chat')];
  const publishers = [
    ...(content || chat ? ['google'] : []),
    ...(messages ? ['anthropic'] : []),
    ...(chat ? openPublishers : []),
  ];
  const lists = publishers.flatMap((publisher): ListSource[] => {
    const address = publisher === 'anthropic' ? messages : publisher === 'google' ? (content ?? chat) : chat;
    const [, root = '', project = ''] =
      /^(.*)\/v1(?:beta1)?\/projects\/([^/]+)\/locations\/[^/]+/.exec(address?.pathname ?? '') ?? [];
    if (!address || project === '') return [];
    return [
      {
        url: new URL(`${root}/v1beta1/publishers/${publisher}/models`, address.origin),
        query: publisherQuery,
        // Its path has no project: without this, an identity that belongs to none would be refused.
        headers: { [projectHeader]: decodeURIComponent(project) },
        name: `models of ${publisher}`,
        needs: 'the role Vertex AI User in the project',
        read: (body) => readPublisherModels(body, publisher, content !== null),
      },
    ];
  });
  const [first, ...others] = lists;
  if (!first) return null;
  return {
    style: 'vertex',
    family: content ? 'generate-content' : messages ? 'messages' : 'chat',
    lists: [first, ...others],
    note: 'These are the models that Vertex AI serves itself; those of Model Garden that must be deployed first are left out. The list is that of all locations and projects: models of partners must be enabled in Model Garden, and not every location has every model.',
  };
}

/** The project whose quota a request counts for. */
export const projectHeader = 'x-goog-user-project';
