import { pipeline, type Readable } from 'node:stream';
import { request } from 'undici';
import { type ListPlace, type ListSource, projectHeader } from '#lib/control/providers/list-places';
import type { ListedEntry } from '#lib/control/providers/model-list';
import { whyUnreachable } from '#lib/control/providers/unreachable';
import { noCredential } from '#lib/core/facts/credential';
import type { ProviderFacts } from '#lib/core/facts/snapshot';
import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { families } from '#lib/core/families/index';
import { memberOf } from '#lib/core/families/reading/json';
import { maskCredential } from '#lib/core/relay/credential-mask';
import type { CloudKind } from '#lib/core/schemas/catalogue';
import type { OpenAccess } from '#lib/gateway/clouds/access';
import { decoderOf } from '#lib/gateway/upstream/decode';
import { headerText } from '#lib/gateway/upstream/headers';
import type { Pools } from '#lib/gateway/upstream/pools';
import { readAtMost } from '#lib/platform/read-at-most';

/** For all pages of all lists together. */
const limitMs = 20_000;
/** For one list of several, so that the others are read if it hangs. */
const oneOfManyMs = 6_000;
const connectMs = 5_000;
/** Of all lists together. */
const mostBytes = 8 * 1024 * 1024;
/** Of each list. */
const mostPages = 20;
const mostModels = 5_000;

export type FetchedList =
  | {
      readonly ok: true;
      readonly entries: readonly ListedEntry[];
      /** The list goes on. */
      readonly more: boolean;
      /** What its names are, and which lists could not be read; null: all are names for calls. */
      readonly note: string | null;
    }
  | { readonly ok: false; readonly failure: string };

type Sender = Pick<ProviderFacts, 'credentialHeaders' | 'auth'>;

/** What is known while the lists of a provider are read. */
interface Reading {
  readonly place: ListPlace;
  readonly provider: Sender;
  readonly pools: Pools | null;
  readonly signal: AbortSignal;
  readonly entries: Map<string, ListedEntry>;
  /** Bytes that may still be read. */
  room: number;
  more: boolean;
  /** Whether requests name the project that they count for. */
  named: boolean;
}

/**
 * Reads the whole list, within limits of time and size, by the rules of calls to providers: no redirect is followed, and
 * the credential is in no message. If a provider has several lists, one that cannot be read is a note. Never rejects.
 * @param open the credential for an address; text: why there is none.
 * @param pools null: without a proxy.
 */
export async function fetchList(
  place: ListPlace,
  provider: Sender,
  open: (url: URL) => Promise<OpenAccess | string>,
  pools: Pools | null,
): Promise<FetchedList> {
  const signal = AbortSignal.timeout(limitMs);
  const entries = new Map<string, ListedEntry>();
  const reading: Reading = {
    place,
    provider,
    pools,
    signal,
    entries,
    room: mostBytes,
    more: false,
    named: true,
  };
  const failures: { readonly name: string; readonly why: string }[] = [];
  for (const source of place.lists) {
    const opened = await open(source.url);
    if (typeof opened === 'string') return { ok: false, failure: opened };
    const why = await readSource(source, opened, reading);
    if (why === null) continue;
    const failure = maskCredential(why.text, opened.credential.secret);
    if (why.final) return { ok: false, failure };
    failures.push({ name: source.name, why: failure });
  }
  const [first] = failures;
  if (first && failures.length === place.lists.length) return { ok: false, failure: first.why };
  const unread = first ? `Not read: ${failures.map(({ name }) => name).join(', ')} (${first.why}).` : null;
  return {
    ok: true,
    entries: [...entries.values()].filter(({ uncallable }) => !uncallable),
    more: reading.more || entries.size >= mostModels,
    note: [place.note, unread].filter(Boolean).join(' ') || null,
  };
}

/** Why a list cannot be read; final: neither can the others. */
interface Unread {
  readonly text: string;
  readonly final: boolean;
}

/** @returns null: it was read. */
async function readSource(source: ListSource, opened: OpenAccess, reading: Reading): Promise<Unread | null> {
  const { entries, place } = reading;
  const one = place.lists.length > 1 ? AbortSignal.timeout(oneOfManyMs) : reading.signal;
  const signal = AbortSignal.any([reading.signal, one]);
  let query: Readonly<Record<string, string>> | null = source.query;
  try {
    for (let page = 0; query !== null && page < mostPages && entries.size < mostModels; page += 1) {
      const url = new URL(source.url);
      url.search = new URLSearchParams(query).toString();
      const answer = await askAgain(() => askOnce(url, { source, opened, reading, signal }), opened, reading);
      if (answer === null)
        return { text: `the list is larger than ${mostBytes / 1024 / 1024} MiB`, final: false };
      const text = whyNoList(source, reading.provider.auth?.kind, opened, answer);
      if (text !== null) return { text, final: answer.status === 401 };
      const read = source.read(answer.parsed, [...entries.values()]);
      if (read === null) return { text: notAList(source.url), final: false };
      for (const entry of read.entries) {
        if (entries.size < mostModels && !entries.has(entry.upstreamModel))
          entries.set(entry.upstreamModel, entry);
      }
      query = read.next;
    }
    if (query !== null) reading.more = true;
    return null;
  } catch (error) {
    const waitedMs = reading.signal.aborted || one === reading.signal ? limitMs : oneOfManyMs;
    return { text: whyUnreachable(error, source.url, waitedMs), final: false };
  }
}

interface Asking {
  readonly source: ListSource;
  readonly opened: OpenAccess;
  readonly reading: Reading;
  readonly signal: AbortSignal;
}

/** null: the answer is too large. */
async function askOnce(url: URL, { source, opened, reading, signal }: Asking): Promise<Answer | null> {
  const { place, provider, pools } = reading;
  const spoken = families.find(({ id }) => id === place.family);
  const header = spoken ? credentialHeaderOf(spoken, provider, opened.credential) : null;
  const { [projectHeader]: project, ...others } = source.headers;
  const signature = await opened.sign?.({
    method: 'GET',
    path: `${url.pathname}${url.search}`,
    contentType: null,
    body: null,
  });
  const answer = await request(url, {
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...others,
      ...(project && reading.named && { [projectHeader]: project }),
      ...(header && { [header[0]]: header[1] }),
      ...pairs(signature ?? []),
    },
    ...(pools && { dispatcher: pools.fresh(url.origin, connectMs) }),
    signal,
  });
  const { statusCode: status, headers } = answer;
  const body = await readAtMost(decoded(answer.body, decoderOf(status, headers)), reading.room);
  reading.room -= body?.length ?? reading.room;
  if (body === null) return null;
  const date = headerText(headers, 'date');
  return { status, date, location: headers.location, parsed: parse(body), body };
}

/**
 * Once more if the time of a signature was wrong, or if the identity may not use the project that the request named: one
 * that belongs to a project needs no other.
 */
async function askAgain(
  send: () => Promise<Answer | null>,
  opened: OpenAccess,
  reading: Reading,
): Promise<Answer | null> {
  const first = await send();
  if (first?.status !== 401 && first?.status !== 403) return first;
  const denied =
    reading.place.style === 'vertex' &&
    reading.named &&
    /USER_PROJECT_DENIED|serviceusage\.services\.use/.test(JSON.stringify(first.parsed ?? ''));
  if (denied) reading.named = false;
  const late = opened.refused(first.date);
  return denied || late ? await send() : first;
}

/** Of a flat list of headers. */
function pairs(flat: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as const] : [])),
  );
}

/** An error of the body, or an early end of its reader, ends both. */
function decoded(body: Readable, decoder: ReturnType<typeof decoderOf>): Readable {
  return decoder ? pipeline(body, decoder, () => {}) : body;
}

interface Answer {
  readonly status: number;
  /** As the header has it; empty: it has none. */
  readonly date: string;
  readonly location: string | string[] | undefined;
  readonly parsed: unknown;
  readonly body: Uint8Array;
}

/** What to do if a provider of a cloud has no list of models at its address. */
const namesAtClouds: Readonly<Record<CloudKind, string>> = {
  'aws-sigv4':
    'enter the ids of models or inference profiles yourself; "aws bedrock list-foundation-models" and "aws bedrock list-inference-profiles" show them',
  'google-service-account':
    'enter the names of models yourself, as Model Garden of your Google Cloud project shows them',
  'entra-id': 'enter the names of your deployments yourself, as the Azure portal shows them',
};

/** @param cloud undefined: the provider is none. @returns null: the answer may be a list. Pure. */
function whyNoList(
  { url, needs }: ListSource,
  cloud: CloudKind | undefined,
  { credential }: OpenAccess,
  { status, location, parsed, body }: Answer,
): string | null {
  const at = `${url.origin}${url.pathname}`;
  if (status >= 300 && status < 400) return `${at} redirects to ${targetOf(location, url)}; use that address`;
  const said = messageIn(parsed);
  if (status === 401 || status === 403) {
    if (credential.secret === noCredential)
      return `the provider asks for a credential (${status})${said}; give it one`;
    const key = cloud !== 'aws-sigv4' && !credential.bearer;
    const advice =
      cloud === 'google-service-account' && key
        ? `Google shows this list to identities, not to API keys: use a service account, or ${namesAtClouds[cloud]}`
        : needs && cloud && !key
          ? `it needs ${needs}; without it, ${namesAtClouds[cloud]}`
          : 'check it and what it may do';
    return `the provider refused the credential (${status})${said}; ${advice}`;
  }
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
  const error = memberOf(parsed, 'error');
  const message =
    memberOf(error, 'message') ?? memberOf(parsed, 'message') ?? memberOf(parsed, 'Message') ?? error;
  if (typeof message !== 'string') return '';
  const line = message
    .toWellFormed()
    .replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
  return line === '' ? '' : `: ${line.slice(0, 200)}`;
}
