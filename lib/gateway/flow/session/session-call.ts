import { isRefusal, type Refusal, Refused, refusal, retryIn } from '#lib/core/errors';
import type { AskedAudio, Edit, InputWeight } from '#lib/core/families/family';
import { nestedEdits } from '#lib/core/families/nested';
import { namesLimit } from '#lib/core/families/realtime/ask';
import type { ResponseMeter } from '#lib/core/families/realtime/meter';
import {
  type AnsweredCall,
  type ClaimedCall,
  extendCall,
  openCall,
  type PlannedCall,
} from '#lib/gateway/flow/call/call';
import { chargeCall } from '#lib/gateway/flow/call/charge-call';
import { endCall } from '#lib/gateway/flow/call/end-call';
import { recordOf } from '#lib/gateway/flow/call/record';
import type { Arrival, Reply } from '#lib/gateway/flow/lane';
import { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { OpenSession } from '#lib/gateway/flow/session/open-session';
import { account } from '#lib/gateway/flow/steps/account';
import { authenticate } from '#lib/gateway/flow/steps/authenticate';
import { claimCall } from '#lib/gateway/flow/steps/claim-call';
import { matchOperation } from '#lib/gateway/flow/steps/match-operation';
import { openEntry } from '#lib/gateway/flow/steps/open-entry';
import { parseAsk } from '#lib/gateway/flow/steps/parse-ask';
import { planCall } from '#lib/gateway/flow/steps/plan-call';
import { refuseCall } from '#lib/gateway/flow/steps/refuse-call';
import type { Target } from '#lib/gateway/routing/pure/target';

/** What the calls of a session take from it (contract: realtime/hold). */
export interface SessionTerms {
  readonly session: OpenSession;
  /** The limit that the session sets for its responses, tokens; null: none. */
  readonly budget: number | null;
  /** What a response reads beside its own event: the conversation so far. */
  readonly weight: InputWeight;
  /** What a transcript is made of; absent: it is a response, or its length is reported. */
  readonly audio?: AskedAudio;
}

/** An event that passed all checks of a call. */
export interface CheckedEvent<Stage extends PlannedCall = PlannedCall> {
  readonly call: Stage;
  readonly target: Target;
}

/**
 * Checks an event of a client as the call that it asks for: the key, the models, the budget, and where it goes.
 * @param arrival its body is the event.
 * @returns the refusal, which is accounted for and sent to `reply`; else the checked event.
 */
export function checkEvent(
  runtime: Runtime,
  arrival: Arrival,
  terms: SessionTerms,
  reply: Reply,
): Promise<CheckedEvent | Refusal> {
  return orRefuse(runtime, arrival, reply, (call) => plan(runtime, call, terms));
}

/** The same, with its share of limits and money. */
export function claimEvent(
  runtime: Runtime,
  arrival: Arrival,
  terms: SessionTerms,
  reply: Reply,
): Promise<CheckedEvent<ClaimedCall> | Refusal> {
  return orRefuse(runtime, arrival, reply, async (call) => {
    const { call: planned } = await plan(runtime, call, terms);
    const claimed = await claimCall(runtime, planned);
    return { call: claimed, target: targetOf(claimed) };
  });
}

/** A claim that was not used. */
export function giveBack(runtime: Runtime, { call }: CheckedEvent<ClaimedCall>): void {
  runtime.coordinator?.release(call.claim, {
    atMs: runtime.clock.now(),
    chargeNano: 0n,
    tokens: 0,
    undone: true,
  });
}

/**
 * A response begins: its call is in the journal before the provider hears of it (contract: durability/journal).
 * @throws Refused when the journal, or the limit of the credential, does not allow it.
 */
export async function beginCall(
  runtime: Runtime,
  { call, target }: CheckedEvent<ClaimedCall>,
): Promise<AnsweredCall> {
  const { limits, name } = target.credential;
  if (limits) {
    const taken = await runtime.credentialCounts.take(limits, call.claim.tokens);
    if (!('waitMs' in taken)) call.outcome.credentialUse = taken;
    else if (!call.arrival.begun) throw atLimit(taken.waitMs);
  }
  await openEntry(runtime, call);
  call.outcome.status = 200;
  call.outcome.attempts.push({
    provider: target.offer.provider.id,
    model: target.model.id,
    credential: name,
    status: 200,
    error: null,
    startMs: 0,
    durationMs: 0,
    upstreamRequestId: null,
    possibleDuplicate: false,
    providerCode: null,
    providerMessage: null,
  });
  return extendCall(call, { target });
}

function atLimit(waitMs: number): Refused {
  const retryAfterSeconds = Math.min(60, Math.max(1, Math.ceil(waitMs / 1000)));
  return new Refused(
    refusal(
      'provider_limit_exceeded',
      `The gateway has reached the limit of its account at the provider. ${retryIn(retryAfterSeconds)}`,
      { retryAfterSeconds },
    ),
  );
}

/** Ends a call with a refusal, which is accounted for and sent. */
export async function refuseEvent(
  runtime: Runtime,
  call: ClaimedCall,
  reply: Reply,
  error: unknown,
): Promise<Refusal> {
  return refused(runtime, call, new LiveReply(reply), error);
}

/** Writes to the journal what a response would cost now, and raises its hold. @returns false: its hold cannot grow. */
export async function checkpoint(
  runtime: Runtime,
  call: AnsweredCall,
  meter: ResponseMeter,
): Promise<boolean> {
  if (call.claim.funding === 'none') return true;
  chargeCall(call, meter, { end: 'open' });
  const written = runtime.journal?.append({
    kind: 'checkpoint',
    callId: call.id,
    call: recordOf(call, runtime.clock.mono()),
  });
  // A failed write already stops admission; this response may continue.
  written?.catch(() => {});
  const wantedNano = call.outcome.charge.uncappedNano;
  if (!runtime.coordinator || wantedNano <= call.outcome.holdNano) return true;
  const grown = await runtime.coordinator.grow(call.claim, wantedNano);
  if (grown && wantedNano > call.outcome.holdNano) call.outcome.holdNano = wantedNano;
  return grown || !call.snapshot.workspace.strict;
}

/** How a response ended: the provider said so; its connection broke; or the client or the gateway ended the session. */
export type ResponseEnd = 'ended' | 'broken' | 'closed';

/**
 * Charges a response and closes its call, before the event that ends it is sent (contract: durability/last-byte).
 * @throws when its charge cannot be written.
 */
export async function closeCall(
  runtime: Runtime,
  call: AnsweredCall,
  meter: ResponseMeter,
  end: ResponseEnd,
): Promise<void> {
  const { outcome } = call;
  const failed = end === 'broken' ? 'connection_closed' : meter.failed ? 'error_in_answer' : null;
  outcome.gone = end === 'closed';
  if (end === 'ended') endCall(call, { by: 'answer', failed: meter.failed });
  else endCall(call, { by: 'failure', name: end === 'broken' ? 'connection_closed' : 'client_gone' });
  outcome.upstreamMs = runtime.clock.mono() - call.startMono - outcome.leadMs;
  const [attempt] = outcome.attempts;
  if (attempt)
    outcome.attempts[0] = { ...attempt, error: failed, durationMs: Math.round(outcome.upstreamMs) };
  const seen = end === 'closed' ? ({ end, sentWhole: true, workedTokens: 0 } as const) : ({ end } as const);
  chargeCall(call, meter, seen);
  await account(runtime, call, { started: () => true });
}

/** What must differ in the event for its target: names of models, and a limit where the key has one. */
export function editsOf({ call, target }: CheckedEvent, limited: boolean): readonly Edit[] {
  const { ask, family } = call;
  const limit = limited && ask.budget === null ? target.injectBudget : null;
  return [...family.edits(ask, target.offer, limit), ...nestedEdits(ask, target.nested)];
}

async function plan(
  runtime: Runtime,
  call: ReturnType<typeof openCall>,
  { session, budget, weight, audio }: SessionTerms,
): Promise<CheckedEvent> {
  const matched = matchOperation(call);
  if (isRefusal(matched)) throw new Refused(matched);
  const { model, offer, credential } = session.target;
  // The slug, because a name may have another meaning by now.
  const known = await authenticate(runtime, extendCall(matched, { params: { model: model.id } }));
  const { family } = known;
  if (family === null) throw new Error('a session is of a family');
  const asked = await parseAsk(runtime, extendCall(known, { family }));
  const other = asked.ask.nested?.find(({ slug, at }) => ownModel.has(at.path) && slug !== model.id);
  if (other) {
    throw new Refused(
      refusal(
        'model_not_allowed',
        `A session keeps the model that it was opened with, ${model.id}; open another one for ${JSON.stringify(other.slug.slice(0, 100))}.`,
      ),
    );
  }
  const own = asked.ask.weight;
  const planned = planCall(
    runtime,
    extendCall(asked, {
      pinned: { providerId: offer.provider.id, credential: credential.name },
      ask: {
        ...asked.ask,
        requestedModel: session.requestedModel,
        ...(audio ? { audio } : {}),
        weight: {
          ...own,
          textBytes: own.textBytes + weight.textBytes,
          audioVideoBytes: own.audioVideoBytes + weight.audioVideoBytes,
          images: own.images + weight.images,
        },
      },
    }),
  );
  if (planned.plan.failure) throw new Refused(planned.plan.failure);
  const target = targetOf(planned);
  if (namesLimit(planned.ask.scan)) return { call: planned, target };
  // The session's own limit binds a response that names none.
  return { call: extendCall(planned, { ask: { ...planned.ask, budget } }), target };
}

/** Places of an event that can only name the session's own model. */
const ownModel: ReadonlySet<string> = new Set(['response.model', 'session.model']);

function targetOf({ plan: { targets } }: PlannedCall): Target {
  const [target] = targets;
  if (!target) throw new Error('a plan without a failure has a target');
  return target;
}

async function orRefuse<Found>(
  runtime: Runtime,
  arrival: Arrival,
  reply: Reply,
  find: (call: ReturnType<typeof openCall>) => Promise<Found>,
): Promise<Found | Refusal> {
  const call = openCall(runtime, arrival);
  try {
    return await find(call);
  } catch (error) {
    return await refused(runtime, call, new LiveReply(reply), error);
  } finally {
    // The session has the event itself.
    arrival.body.free();
  }
}

async function refused(
  runtime: Runtime,
  call: Parameters<typeof refuseCall>[1],
  reply: LiveReply,
  error: unknown,
): Promise<Refusal> {
  const send = refuseCall(runtime, call, reply, error);
  await account(runtime, call, reply);
  send(reply);
  return call.outcome.refusal ?? refusal('upstream_request_failed', 'The request failed; retry.');
}
