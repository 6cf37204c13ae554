import type { Refusal } from '#lib/core/errors';
import type { Ability } from '#lib/core/facts/abilities';
import type { JobFacts, JobReader } from '#lib/core/facts/job';
import type { ResourceKind, ResourceReference, ResourceView, ShownResource } from '#lib/core/facts/resource';
import type { ModelFacts, OfferFacts } from '#lib/core/facts/snapshot';
import type { StoreName } from '#lib/core/facts/stores';
import type { FamilyId } from '#lib/core/families/ids';
import type { QueryNames } from '#lib/core/families/query';
import type { Fault } from '#lib/core/families/reading/fault';
import type { FieldSpec, Found, Scan } from '#lib/core/families/scan';
import type { UsageReport } from '#lib/core/metering/usage';
import type { CredentialHeaderName } from '#lib/core/schemas/catalogue';

/** Which checks of admission apply (contract: admission/which-steps). */
export type Steps = 'generate' | 'count' | 'stored' | 'models';

/** One operation, as data (contract: families/operations). */
export interface Operation {
  /** As the call log shows it: "chat.create". */
  readonly name: string;
  readonly family: FamilyId | 'models';
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /**
   * Segments after the version prefix; `{x}` takes one segment, `{x+}` one or more (a slug may hold a
   * slash), `{x+}:verb` ends in that verb. "chat/completions", "models/{model+}:generateContent".
   */
  readonly path: string;
  readonly prefixes: readonly ('v1' | 'v1beta' | 'v1alpha')[];
  readonly steps: Steps;
  /** What the gateway reads of a JSON body; null for operations without one. */
  readonly fields: FieldSpec | null;
  /**
   * The path parameter that names a resource of the workspace: unknown is 404 `not_found`, and the call
   * is pinned to who keeps it. A remix takes its model from there.
   */
  readonly resource?: { readonly kind: ResourceKind; readonly param: string } | undefined;
  /**
   * Where the body names the thing that it starts from, whose model it takes; a body that brings a file instead names
   * the model itself (contract: jobs/remix).
   */
  readonly source?: { readonly kind: ResourceKind; readonly field: string };
  /** A further thing in it that the path names: another workspace's is 404 too. */
  readonly within?: { readonly kind: ResourceKind; readonly param: string };
  /** Where the body names a file of requests: it runs all of them, as one job (contract: batches/create). */
  readonly runsFile?: string;
  /** Where the body has a list of requests: it runs all of them, as one job (contract: batches/messages). */
  readonly runsRequests?: string;
  /** What it deletes are the results of a batch: only once that is charged (contract: batches/results). */
  readonly deletesResults?: true;
  /** It is called by this header in the request; without the header, its path is another operation's. */
  readonly spokenWith?: string;
  /** Values of that header that call it; absent: any. */
  readonly spokenAs?: RegExp;
  /**
   * Of an upload in parts: it begins one, or it brings a part, by the address that the beginning gave
   * (contract: batches/content-files).
   */
  readonly resumable?: 'start' | 'part';
  /** It has a provider store something new, and names no model (contract: routing/no-model). */
  readonly stores?: StoreName;
  /**
   * The gateway answers it itself, from its own record of what the workspace has of a kind: a provider's list would
   * show other workspaces' too (contract: jobs/job-list, jobs/resource-list).
   */
  readonly lists?: {
    readonly of: ResourceKind;
    /** Where `order` is absent. */
    readonly order: 'asc' | 'desc';
    /** Entries of a page: where `limit` is absent, and at most. */
    readonly usual: number;
    readonly most: number;
    /** Names of the query that entries must match. */
    readonly filters?: readonly string[];
    /**
     * Pages are asked for with `after_id` and `before_id`, or with `pageSize` and `pageToken`; absent: with `after` and
     * `order`.
     */
    readonly paging?: 'ids' | 'tokens';
    /** The member of the answer that has the entries; absent: `data`. */
    readonly member?: string;
  };
  /** Query names that travel upstream; absent: none does (contract: body/query). */
  readonly query?: QueryNames;
  /** It generates text, up to an output budget that the request may name (contract: admission/output-budget). */
  readonly budgeted?: true;
  /** It generates text, and no field of its request limits that: neither a key's maximum nor a translation can. */
  readonly unlimited?: true;
  /**
   * What it makes fits only what the same model made, as vectors do: there is no fallback to another model
   * (contract: families/same-model).
   */
  readonly sameModel?: true;
  /** It has a provider keep a context cache, and pays for that at once (contract: batches/cache-charge). */
  readonly caches?: true;
  /** It is a session over a WebSocket, in which each response is a call; an HTTP request to it is refused. */
  readonly socket?: true;
  /** What a stored operation does to its resource beyond reading it; `extend`: later calls read more again. */
  readonly resourceEffect?: 'delete' | 'cancel' | 'extend';
  /**
   * Its answer is a file: ranges and `if-*` go up, and only the pause between bytes is limited.
   * `redirected`: the provider may send the gateway elsewhere for it (contract: jobs/downloads).
   */
  readonly download?: 'direct' | 'redirected';
  /**
   * Its answers never show a resource, though the family's others do (`Family.shown`): they are relayed
   * as they come, where others are held until what they show is kept.
   */
  readonly shows?: false;
  /**
   * Its answer repeats what clients have sent, ids included: one that another workspace has does not
   * become this one's by being shown here.
   */
  readonly repeats?: true;
  /** The body may be multipart/form-data: its text parts are read as `fields`. `only`: it may be nothing else. */
  readonly multipart?: boolean | 'only';
  /** The part with the audio that it reads, whose length is found out before the call (contract: money/audio-length). */
  readonly listensTo?: string;
  /**
   * How long a provider may take to begin a whole answer, ms, where it usually takes less or more than others of its
   * `steps` (contract: routing/time-limits).
   */
  readonly wholeMs?: number;
}

/** What a request asks for: values read once from the bytes that will be sent. */
export interface Ask {
  readonly operation: Operation;
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The model's slug; until names are resolved, the name as sent. */
  readonly model: string;
  /** The name as sent, where it is not the slug (contract: families/names). */
  readonly requestedModel?: string;
  /** Slugs that the name gives as fallbacks, in place of the policy's `fallbackModels`. */
  readonly chain?: readonly string[];
  readonly stream: boolean;
  /** Largest output budget that the request names, tokens; null: none. */
  readonly budget: number | null;
  /** `budget` is only that of nested models: the request names none for its own model. */
  readonly budgetIsNested?: true;
  /** `n` / `candidateCount`, at least 1. */
  readonly choices: number;
  readonly serviceTier: string | null;
  /** What the input weighs, for the hold and for estimates (contract: money/hold). */
  readonly weight: InputWeight;
  /** It declares tools that the provider runs itself, after which the model reads again; absent: none. */
  readonly serverTools?: true;
  /**
   * Slugs of further models that the body names, with their places (contract: admission/nested-models); absent: none.
   */
  readonly nested?: readonly NestedModel[];
  /** Further places of the body that repeat the model's own name; absent: none. */
  readonly repeatedModel?: readonly Found[];
  /** Media to be made; absent: only text. */
  readonly media?: AskedMedia;
  /** A context cache to be kept; absent: none. */
  readonly cache?: AskedCache;
  /** Audio to be made or read; absent: none that is priced by its length or its text. */
  readonly audio?: AskedAudio;
  /** Resources that the request continues: they pin it to who keeps them (contract: jobs/pinning). */
  readonly references?: readonly ResourceReference[];
  /** Its answer shows no resource, though those of its operation may; absent: it may show one. */
  readonly shows?: false;
  /** The provider keeps the answer as a thing of its own, with these labels; absent: as its operation says. */
  readonly stored?: { readonly metadata: ResourceView };
  /** The request says that the provider keeps nothing of its answer (`store: false`); absent: it may. */
  readonly unkept?: true;
  /** The answer will be a job, charged when it completes: what its end is priced by. */
  readonly job?: JobFacts;
  /** Requests of a file that it runs, or has stored to be run later; absent: none. */
  readonly batch?: BatchWeight;
  /** What replaces parts of the requests that the body lists; absent: the family's `edits` say it. */
  readonly lineEdits?: readonly Edit[];
  /** The request caches its prompt for an hour; absent: read from the body. */
  readonly cachesForHour?: boolean;
  readonly scan: Scan;
}

/** What an ask is read from: an operation, its path parameters and its scanned body. */
export type RawAsk = Pick<Ask, 'operation' | 'params' | 'scan'>;

/** Media that a request asks for, according to its own parameters (contract: money/media-hold). */
export interface AskedMedia {
  /** Output tokens, which take the place of a text budget. */
  readonly tokens: number;
  /** What providers price by the piece. */
  readonly unit: 'image' | 'videoSecond';
  /** How many pieces; seconds may be estimated. */
  readonly quantity: number;
  /** Entries of a price map that fit its size or quality, the closest first. */
  readonly names: readonly string[];
}

/** A context cache that a request has a provider keep (contract: batches/cache-charge). */
export interface AskedCache {
  /** Of a cache that is there already; null: the answer says it. */
  readonly tokens: number | null;
  /** How long it is asked to be kept, s; for a change of its end, a minute more, since the hold must cover it. */
  readonly seconds: number;
  /** Until when it is paid already, ms since the epoch by the provider's clock; null: it is new. */
  readonly paidMs: number | null;
}

/** Audio that a request asks for or brings (contract: money/audio-hold). */
export interface AskedAudio {
  /** Characters of the text to be spoken; 0 if audio is read. */
  readonly characters: number;
  /** Length of the audio, as the hold counts it, ms. */
  readonly ms: number;
  /** Length that the file itself has, ms; null: unknown, or the audio is to be made. */
  readonly fileMs: number | null;
  /** Length of audio that is read, as an estimate counts it, ms; 0 if it is made. */
  readonly heardMs: number;
  /** Output tokens, as the hold counts them: of audio if it is made, of text if it is read. */
  readonly tokens: number;
  /** The longest that a provider may report, ms (contract: money/usage-bounds). */
  readonly mostMs: number;
}

/** A model named in the body in addition to `model`: an advisor, a fallback at the provider, an image tool. */
export interface NestedModel {
  readonly slug: string;
  readonly at: Found;
}

export interface InputWeight {
  /** Body bytes that are not inline media. */
  readonly textBytes: number;
  readonly images: number;
  readonly audioVideoBytes: number;
  readonly fileBytes: number;
  /** Declared server-side search or fetch tools. */
  readonly searchTools: number;
}

/** What the lines of a file of requests ask for together (contract: batches/hold). Tokens are as in the hold of a call. */
export interface BatchWeight {
  /** The path that each of them calls: "/v1/chat/completions". */
  readonly endpoint: string;
  readonly lines: number;
  /** Sums: of text and other files, pictures, sound, and of what may be written. */
  readonly textTokens: number;
  readonly imageTokens: number;
  readonly soundTokens: number;
  readonly outputTokens: number;
  /** The largest input of one line, which decides the context tier. */
  readonly mostInput: number;
  /** The largest output budget of one line, all its choices together; 0: one of them names none. */
  readonly mostOutput: number;
  /** The largest `n` of one line. */
  readonly choices: number;
  /** 1: a line declares tools that the provider runs. */
  readonly serverTools: number;
  /** 1: a line asks for something to be written to a cache. */
  readonly caches: number;
}

/** Replace the bytes [start, end) of the body by `text`; start = end inserts. Ranges never overlap. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Reads the usage of a streamed answer, event by event; its fields are current after each. Pure but for its own state.
 */
export interface StreamReader {
  /** One SSE event: its `event:` name or null, its `data:` lines joined; or one element of a streamed array. */
  event(name: string | null, data: string): void;
  /** The usage as far as the stream has reported it; the newest object wins, by the family's own rule. */
  report(): UsageReport | null;
  /** UTF-8 bytes of output (text, reasoning, tool arguments) seen so far: the basis of an estimate. */
  readonly outputBytes: number;
  /** Everything that the stream will report has been seen, usage included where it comes before the last event. */
  readonly finished: boolean;
  /**
   * The family's own end was seen (contract: routing/own-end): `finish_reason` of every choice or `[DONE]`,
   * `message_stop`, a terminal response event, `finishReason` of every candidate, a completed image.
   */
  readonly ended: boolean;
  /**
   * How many events so far have said something: text, thinking, a tool call, a refusal, an image
   * (contract: routing/begun). Role-only deltas, pings and events that only announce an answer do not count.
   */
  readonly said: number;
  /** The provider said why its answer ended, so it is an answer even without any output. */
  readonly gaveReason: boolean;
  /** The stream carried an error of the provider. */
  readonly failed: boolean;
  /** The provider's newest error object, parsed; undefined: none, or an error event without one. */
  readonly error: unknown;
  /** Resources that the events so far have shown; absent: the family's streams show none. */
  readonly shown?: readonly ShownResource[];
  /** The newest object of the stream that shows a job's state, parsed; absent: none. */
  readonly jobAnswer?: unknown;
  /** The number after the last one that an event had; absent: events have none. */
  readonly nextNumber?: number;
}

/** Reads a whole answer that is not JSON, such as audio or plain text, as its bytes pass. Pure but for its own state. */
export interface BodyReader {
  push(chunk: Uint8Array): void;
  /** What the answer used so far; null: nothing has come. */
  report(): UsageReport | null;
  /** The basis of an estimate, as in `StreamReader`. */
  readonly outputBytes: number;
}

/** By ability, whether a request of the family asks for it; absent: its requests never do. */
export type AbilityReaders = Readonly<Partial<Record<Ability, (ask: Ask) => boolean>>>;

/**
 * A protocol family: data plus small pure functions. It knows nothing of money, limits or workspaces.
 */
export interface Family {
  readonly id: FamilyId;
  readonly operations: readonly Operation[];
  /** A stream that is asked for may also come as one JSON array, element by element. */
  readonly streamsArrays?: boolean;
  /** Values out of the scanned body. @returns a refusal (`invalid_body`) for wrong types. */
  readAsk(raw: RawAsk): Ask | Refusal;
  /** What its requests may ask of an offer beyond an answer (contract: routing/abilities); absent: nothing. */
  readonly abilities?: AbilityReaders;
  /** The same for a body that is sent to something stored, and names no model; absent: nothing of it is needed. */
  readStored?(raw: RawAsk): Partial<Pick<Ask, 'references' | 'weight'>> | Refusal;
  /**
   * In-place replacements for one target: the provider's model name, an injected budget (tokens, null
   * for none), an injected `include_usage`. Nested names are replaced by the gateway, for every family
   * alike. Nothing else of the body changes.
   * @param betas the client's header `anthropic-beta`, for addresses that take it in the body.
   */
  edits(ask: Ask, offer: OfferFacts, injectBudget: number | null, betas?: string): readonly Edit[];
  /** True when `edits` makes the provider send a usage event that the client did not ask for; absent: never. */
  injectsUsage?(ask: Ask, offer: OfferFacts): boolean;
  /** Path after the provider's versioned root, "/chat/completions". */
  upstreamPath(ask: Ask, offer: OfferFacts): string;
  /** A header that its providers require, with the value to send when the client sends none. */
  readonly requiredHeader?: readonly [name: string, value: string];
  /** The header that carries the operator's credential, unless the provider's address takes another one. */
  readonly credentialHeader: CredentialHeaderName;
  /** Usage of a whole answer (parsed JSON); null when it has none (contract: families/usage-readers). */
  readUsage(ask: Ask, answer: unknown): UsageReport | null;
  /** The parts of the ask that `readUsage` and `streamReader` need after the body is freed; absent: none. */
  remembered?(ask: Ask): Partial<Ask>;
  /** UTF-8 bytes of output in a whole answer, for an estimate. */
  outputBytes(answer: unknown): number;
  /** The error in a whole answer of status 2xx, parsed; undefined: none. Absent: its `error` member. */
  errorIn?(answer: unknown): unknown;
  streamReader(ask: Ask): StreamReader;
  /**
   * Reads whole answers of this type that are not JSON. @param type the Content-Type in lower case, '' for none.
   * @returns null: such an answer is JSON, or none. Absent: all are.
   */
  bodyReader?(ask: Ask, type: string): BodyReader | null;
  /**
   * Whose fault an error is (contract: families/faults).
   * @param status null: an error object inside a 200, or an error event of a stream.
   * @param body parsed JSON; null if it is not JSON.
   */
  faultOf(status: number | null, body: unknown): Fault;
  /**
   * The in-band end of a stream that broke (contract: routing/broken-stream); null: cut the connection instead.
   * @param sequence number of the next event, where events are numbered.
   * @param shown the newest object that the client has seen, as `jobAnswer` gives it; undefined: none.
   */
  breakFrame(error: { code: string; message: string }, sequence: number, shown: unknown): string | null;
  /**
   * An event or comment that says nothing, for clients of a silent stream (contract: routing/sign-of-life); null: none.
   */
  readonly signOfLife: string | null;
  /** Resources that a whole answer (parsed JSON) shows; absent: the family keeps none. */
  shown?(operation: Operation, answer: unknown, stored?: Ask['stored']): readonly ShownResource[];
  /**
   * A whole answer with the gateway's addresses in place of the provider's; absent: its answers have none that clients
   * call.
   */
  answerHere?(operation: Operation, answer: Uint8Array): Uint8Array;
  /** How the family's jobs are read; absent: it has none. */
  readonly jobs?: JobReader;
  /** Where a client that asked for a model without an offer in this family should go instead. */
  readonly clientPath: string;
  /** The least body that its first operation accepts, without the model: for a plan without a request. */
  readonly leastBody: object;
}

/** The path of an operation at the provider: its own, with the id of what it reads ("/videos/{id}/content"). */
export function ownPath({ operation, params }: Pick<Ask, 'operation' | 'params'>): string {
  return `/${operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}`;
}

/**
 * Whether a key's maximum must be written into the request (contract: admission/budget-injection): divided among its
 * choices, where the request names no budget and the model could write more than the key allows.
 * @returns tokens for each choice, at least 1 once `checkBudget` has passed; null: nothing is written.
 */
export function budgetToInject(ask: Ask, keyMaximum: number | null, model: ModelFacts): number | null {
  const { operation, budget, budgetIsNested, choices } = ask;
  if (keyMaximum === null || operation.budgeted !== true || operation.steps !== 'generate') return null;
  if (budget !== null && !budgetIsNested) return null;
  // 0: unknown to the catalogue, so it is not a limit.
  const bounded = model.maxOutputTokens > 0 && model.maxOutputTokens * choices <= keyMaximum;
  return bounded ? null : Math.floor(keyMaximum / choices);
}
