import { pipeline, type Readable } from 'node:stream';
import { request } from 'undici';
import { type ListedEntry, readModelList } from '#lib/control/providers/model-list';
import { whyUnreachable } from '#lib/control/providers/unreachable';
import { type CredentialFacts, noCredential } from '#lib/core/facts/credential';
import type { ProviderFacts } from '#lib/core/facts/snapshot';
import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { type FamilyId, familyIds } from '#lib/core/families/ids';
import { families } from '#lib/core/families/index';
import { maskCredential } from '#lib/core/relay/credential-mask';
import type { CloudKind } from '#lib/core/schemas/catalogue';
import { decoderOf } from '#lib/gateway/upstream/decode';
import type { Pools } from '#lib/gateway/upstream/pools';
import { readAtMost } from '#lib/platform/read-at-most';

/** For all pages together. */
const limitMs = 20_000;
const connectMs = 5_000;
const mostBytes = 8 * 1024 * 1024;
const mostPages = 20;
const mostModels = 5_000;

/** Where a provider's list of models is, and by which family its credential is sent. */
export interface ListPlace {
  readonly url: URL;
  readonly family: FamilyId;
  readonly style: 'openai' | 'anthropic' | 'google';
}

export type FetchedList =
  | {
      readonly ok: true;
      readonly entries: readonly ListedEntry[];
      /** The list goes on. */
      readonly more: boolean;
    }
  | { readonly ok: false; readonly failure: string };

type SentCredential = Pick<CredentialFacts, 'secret' | 'bearer' | 'cloud'>;
type Spoken = Pick<ProviderFacts, 'families' | 'credentialHeaders' | 'auth'>;

/** null: it has no usable address. Pure. */
export function listPlaceOf({ families: addresses, credentialHeaders }: Spoken): ListPlace | null {
  const at = (family: FamilyId) => {
    const address = addresses.get(family);
    return address?.state === 'ready' ? address.url : null;
  };
  const place = (family: FamilyId, style: ListPlace['style']): ListPlace | null => {
    const root = at(family);
    if (root === null) return null;
    return { url: new URL(`${root.pathname.replace(/\/+$/, '')}/models`, root.origin), family, style };
  };
  const [content, messages] = [place('generate-content', 'google'), place('messages', 'anthropic')];
  if (content) return content;
  const others = familyIds.filter((family) => family !== 'messages' && family !== 'embed-content');
  const open = others.flatMap((family) => place(family, 'openai') ?? [])[0] ?? null;
  // Anthropic's own list needs its header; a host that takes a bearer token for messages lists models as OpenAI does.
  const native = messages?.url.href === open?.url.href && !credentialHeaders.has('messages');
  return native && messages ? messages : (open ?? messages);
}

/**
 * Reads the whole list, within limits of time and size, by the rules of calls to providers: no redirect is followed, and
 * the credential is in no message. Never rejects.
 * @param pools null: without a proxy.
 */
export async function fetchList(
  place: ListPlace,
  provider: Spoken,
  credential: SentCredential,
  pools: Pools | null,
): Promise<FetchedList> {
  const { secret } = credential;
  const signal = AbortSignal.timeout(limitMs);
  const entries = new Map<string, ListedEntry>();
  let room = mostBytes;
  let query: Readonly<Record<string, string>> | null = place.style === 'google' ? { pageSize: '1000' } : {};
  try {
    for (let page = 0; query !== null && page < mostPages && entries.size < mostModels; page += 1) {
      const url = new URL(place.url);
      url.search = new URLSearchParams(query).toString();
      const answer = await request(url, {
        headers: headersOf(place, provider, credential),
        ...(pools && { dispatcher: pools.fresh(url.origin, connectMs) }),
        signal,
      });
      const { statusCode: status, headers } = answer;
      const body = await readAtMost(decoded(answer.body, decoderOf(status, headers)), room);
      if (body === null) return failed(`the list is larger than ${mostBytes / 1024 / 1024} MiB`, secret);
      room -= body.length;
      const parsed = parse(body);
      const why = whyNoList({ ...place, cloud: provider.auth?.kind }, secret, {
        status,
        location: headers.location,
        parsed,
        body,
      });
      if (why !== null) return failed(why, secret);
      const read = readModelList(parsed);
      if (read === null) return failed(notAList(place.url), secret);
      for (const entry of read.entries) {
        if (entries.size < mostModels && !entries.has(entry.upstreamModel))
          entries.set(entry.upstreamModel, entry);
      }
      // A list that does not go on would be read for ever.
      query = read.entries.length > 0 ? read.next : null;
    }
    return { ok: true, entries: [...entries.values()], more: query !== null || entries.size >= mostModels };
  } catch (error) {
    return failed(whyUnreachable(error, place.url, limitMs), secret);
  }
}

/** An error of the body, or an early end of its reader, ends both. */
function decoded(body: Readable, decoder: ReturnType<typeof decoderOf>): Readable {
  return decoder ? pipeline(body, decoder, () => {}) : body;
}

function headersOf(
  { family, style }: ListPlace,
  provider: Spoken,
  credential: SentCredential,
): Record<string, string> {
  const spoken = families.find(({ id }) => id === family);
  const header = spoken ? credentialHeaderOf(spoken, provider, credential) : null;
  return {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(style === 'anthropic' && { 'anthropic-version': '2023-06-01' }),
    ...(header && { [header[0]]: header[1] }),
  };
}

function failed(failure: string, secret: string): FetchedList {
  return { ok: false, failure: maskCredential(failure, secret) };
}

interface Answer {
  readonly status: number;
  readonly location: string | string[] | undefined;
  readonly parsed: unknown;
  readonly body: Uint8Array;
}

/** What to do if a provider of a cloud has no list of models at its address. */
export const namesAtClouds: Readonly<Record<CloudKind, string>> = {
  'aws-sigv4':
    'enter the ids of models or inference profiles yourself; "aws bedrock list-foundation-models" and "aws bedrock list-inference-profiles" show them',
  'google-service-account':
    'enter the names of models yourself, as Model Garden of your Google Cloud project shows them',
  'entra-id': 'enter the names of your deployments yourself, as the Azure portal shows them',
};

/** @param cloud undefined: the provider is none. @returns null: the answer may be a list. Pure. */
function whyNoList(
  { url, cloud }: ListPlace & { readonly cloud: CloudKind | undefined },
  secret: string,
  { status, location, parsed, body }: Answer,
): string | null {
  const at = `${url.origin}${url.pathname}`;
  if (status >= 300 && status < 400) return `${at} redirects to ${targetOf(location, url)}; use that address`;
  const said = messageIn(parsed);
  if (status === 401 || status === 403)
    return secret === noCredential
      ? `the provider asks for a credential (${status})${said}; give it one`
      : `the provider refused the credential (${status})${said}; check it and what it may do`;
  if (status === 404 || status === 405)
    return `there is no list of models at ${at} (${status})${said}; ${cloud ? namesAtClouds[cloud] : 'check the path of the address, or enter the names of models yourself'}`;
  if (status === 429) return `the provider allows no more requests now (429)${said}; try again in a minute`;
  if (status < 200 || status > 299) return `${at} answered ${status}${said}`;
  if (parsed !== undefined) return null;
  const page = /^\s*</.test(new TextDecoder().decode(body.subarray(0, 200)));
  return page
    ? `${at} answered with a web page, so this is not the address of a model API; it usually ends in /v1`
    : notAList(url);
}

function notAList({ origin, pathname }: URL): string {
  return `${origin}${pathname} answered 2xx, but not with a list of models; check the address`;
}

/** Without a query, which could have a secret in it. */
function targetOf(location: Answer['location'], from: URL): string {
  const text = typeof location === 'string' ? location : '';
  if (!URL.canParse(text, from)) return 'another address';
  const { origin, pathname } = new URL(text, from);
  return `${origin}${pathname.replace(/\/models$/, '')}`.slice(0, 200);
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** ": what it says", of the error in any family's form. */
function messageIn(parsed: unknown): string {
  const member = (value: unknown, name: string): unknown =>
    typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  const error = member(parsed, 'error');
  const told = member(error, 'message') ?? member(parsed, 'message') ?? error;
  if (typeof told !== 'string') return '';
  const line = told
    .toWellFormed()
    .replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
  return line === '' ? '' : `: ${line.slice(0, 200)}`;
}
