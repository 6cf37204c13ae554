import type { Keeper } from '#lib/core/facts/credential';
import type { JobState } from '#lib/core/facts/job';
import type { Resource } from '#lib/core/facts/resource';
import type { Catalogue, KeySnapshot } from '#lib/core/facts/snapshot';
import type { Tag } from '#lib/core/facts/tags';
import type { Ask, Family, Operation } from '#lib/core/families/family';
import type { Claim } from '#lib/gateway/admission/claim';
import type { ContentCopy } from '#lib/gateway/content/copy';
import { noOutcome, type Outcome } from '#lib/gateway/flow/call/outcome';
import { corsHeaders } from '#lib/gateway/flow/cors';
import type { Arrival, HeaderList } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { UploadTicket } from '#lib/gateway/flow/upload/ticket';
import type { AnswerClaim } from '#lib/gateway/repeats/kept-answers';
import { rulesFor } from '#lib/gateway/routing/pure/rules';
import type { Plan, Target } from '#lib/gateway/routing/pure/target';
import type { ClientRequest } from '#lib/gateway/translation/pure/client-request';

/**
 * One gateway request, from its arrival to its row in the call log. What a step finds out is null before that step and
 * added once by `extendCall`; the type of the call that the step returns says so. All that changes afterwards is in its
 * outcome. Steps that only need what is known at any moment, such as the error exit and the accounting, take a `Call`.
 */
export interface Call {
  readonly id: string;
  readonly clientRequestId: string | null;
  readonly startMs: number;
  readonly startMono: number;
  readonly arrival: Arrival;
  /** Headers that every answer of this call carries. */
  readonly headers: HeaderList;

  /** `MatchedCall` */
  readonly operation: Operation | null;
  /** null also for the models lists, which belong to no family. */
  readonly family: Family | null;
  readonly params: Readonly<Record<string, string>>;
  readonly query: string;

  /** Of a part of an upload: what its address stands for; null: it is no part, or its address is none. */
  readonly ticket: UploadTicket | null;

  /** `AuthenticatedCall` */
  readonly snapshot: KeySnapshot | null;

  /** Holds its RPM unit and slots while its large body is read; the claim takes them over. */
  readonly placed: boolean;
  /** What the path names; the call is about it. */
  readonly resource: Resource | null;
  /** Who keeps what the call is about or continues: its one target. */
  readonly pinned: Keeper | null;
  /** Metered total of the call that this one continues, tokens. */
  readonly previousTokens: number;

  /** Whom it is for, once its body is read; none unless its workspace has that recorded (contract: tags/choice). */
  readonly tags: readonly Tag[];

  /** `AskedCall` */
  readonly ask: Ask | null;

  /** `PlannedCall` */
  readonly plan: Plan | null;
  /** As it stood when the call was planned: what its answer names is priced by it. */
  readonly catalogue: Catalogue | null;

  /** Reads the request for targets of other protocols; null: it is not translated. */
  readonly clientRequest: ClientRequest | null;

  /** Copies of what it is asked and answered; null: its content is not kept (contract: content/which). */
  readonly content: ContentCopy | null;

  /** It makes an answer that is kept; null: its answer is not kept (contract: repeats/kept). */
  readonly answerClaim: AnswerClaim | null;

  /** `ClaimedCall` */
  readonly claim: Claim | null;
  /** How the job stood before it was ended by this call. */
  readonly jobBefore: JobState | null;

  /** `AnsweredCall` */
  readonly target: Target | null;

  readonly outcome: Outcome;
}

const noTags: readonly Tag[] = [];

/** A call of which these are known. */
type Known<Field extends keyof Call> = Call & { readonly [Name in Field]: NonNullable<Call[Name]> };

/** Its address and method name an operation. */
export type MatchedCall = Known<'operation'>;
/** Its key is known and usable. */
export type AuthenticatedCall = Known<'operation' | 'snapshot'>;
/** It is of a protocol family: everything but the models lists. */
export type FamilyCall = Known<'operation' | 'snapshot' | 'family'>;
/** It is about something that a provider keeps for its workspace. */
export type StoredCall = Known<'operation' | 'snapshot' | 'family' | 'resource'>;
/** What it asks for has been read and is allowed. */
export type AskedCall = Known<'operation' | 'snapshot' | 'family' | 'ask'>;
/** Where it may go is decided. */
export type PlannedCall = Known<'operation' | 'snapshot' | 'family' | 'ask' | 'plan' | 'catalogue'>;
/** It holds its share of balance and limits. */
export type ClaimedCall = Known<'operation' | 'snapshot' | 'family' | 'ask' | 'plan' | 'catalogue' | 'claim'>;
/** A target answers it. */
export type AnsweredCall = Known<
  'operation' | 'snapshot' | 'family' | 'ask' | 'plan' | 'catalogue' | 'claim' | 'target'
>;

/** Adds to a call what a step found out. @returns the same object, whose type says that it is known. */
export function extendCall<Stage extends Call, Found extends Partial<Call>>(
  call: Stage,
  found: Found,
): Stage & Found {
  return Object.assign(call, found);
}

/**
 * Opens the call: id, clock, and the headers that no answer may lack
 * (contract: request/request-id, request/client-request-id, request/cors).
 */
export function openCall(runtime: Runtime, arrival: Arrival): Call & { readonly idFailed: boolean } {
  const minted = runtime.newId();
  const id = minted ?? runtime.fallbackId();
  const clientId = arrival.headers['x-request-id'];
  return {
    idFailed: minted === null,
    id,
    clientRequestId: clientId !== undefined && /^[A-Za-z0-9._-]{1,128}$/.test(clientId) ? clientId : null,
    startMs: runtime.clock.now(),
    startMono: runtime.clock.mono(),
    arrival,
    headers: ['x-request-id', id, 'request-id', id, ...corsHeaders(runtime.origins, arrival)],
    operation: null,
    family: null,
    params: {},
    query: '',
    ticket: null,
    snapshot: null,
    placed: false,
    resource: null,
    pinned: null,
    previousTokens: 0,
    tags: noTags,
    ask: null,
    plan: null,
    catalogue: null,
    clientRequest: null,
    content: null,
    answerClaim: null,
    claim: null,
    jobBefore: null,
    target: null,
    outcome: noOutcome(),
  };
}

/**
 * What a client calls its conversation, so that its calls can go where the prompt's cache is: the
 * families' own fields, else a session header. null: nothing said.
 */
export function conversationOf({ ask, arrival }: Call): string | null {
  const named =
    ask?.scan.found.get('prompt_cache_key')?.value ?? ask?.scan.found.get('metadata.user_id')?.value;
  return typeof named === 'string' && named !== '' ? named : (arrival.headers['x-session-id'] ?? null);
}

/** The client wants no translation of this call (contract: translation/when). */
export function refusesTranslation({ arrival }: Pick<Call, 'arrival'>): boolean {
  return arrival.headers['x-translate']?.trim().toLowerCase() === 'never';
}

/** Whether calls of a model may be translated for this client (contract: translation/policy). */
export function allowsTranslation(
  call: Pick<AuthenticatedCall, 'arrival' | 'snapshot'>,
  model: string,
): boolean {
  return !refusesTranslation(call) && rulesFor(call.snapshot.policies, model).translate !== 'never';
}
