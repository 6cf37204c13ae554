import type { WebSocket } from 'ws';
import { isRefusal, type Refusal, Refused, refusal, unaccountable } from '#lib/core/errors';
import type { KeySnapshot } from '#lib/core/facts/snapshot';
import { credentialHeaderOf } from '#lib/core/families/credential-header';
import { isForTranscripts } from '#lib/core/families/realtime/ask';
import type { Claim } from '#lib/gateway/admission/claim';
import { faultOf } from '#lib/gateway/flow/attempt/fault-of';
import { readyAttempt } from '#lib/gateway/flow/attempt/ready-attempt';
import { type ClaimedCall, extendCall, openCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import type { Arrival, Reply } from '#lib/gateway/flow/lane';
import { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { account } from '#lib/gateway/flow/steps/account';
import { authenticate, refuseAddress } from '#lib/gateway/flow/steps/authenticate';
import { claimRate } from '#lib/gateway/flow/steps/claim-call';
import { matchOperation } from '#lib/gateway/flow/steps/match-operation';
import { parseAsk } from '#lib/gateway/flow/steps/parse-ask';
import { planCall } from '#lib/gateway/flow/steps/plan-call';
import { breakOff, refuseCall } from '#lib/gateway/flow/steps/refuse-call';
import type { AttemptReport } from '#lib/gateway/routing/health';
import type { Target } from '#lib/gateway/routing/pure/target';
import { limitsOfModel } from '#lib/gateway/routing/pure/time-limits';
import type { AttemptRecord } from '#lib/gateway/settlement/pure/entry';
import { poolFor, providerError } from '#lib/gateway/upstream/attempt';
import { headersToProvider, providerRequestId, retryAfterMs } from '#lib/gateway/upstream/headers';
import { type Handshake, openSocket } from '#lib/gateway/upstream/provider-socket';
import { credentialFaultOf, failureName } from '#lib/gateway/upstream/pure/classify';
import { shortageIn } from '#lib/gateway/upstream/shortage';

/** A session that a provider has accepted. */
export interface OpenSession {
  /** Its request id, which the calls of its responses have as their client's. */
  readonly id: string;
  readonly snapshot: KeySnapshot;
  /** Where it goes; its calls are pinned there. */
  readonly target: Target;
  /** As the client names the model. */
  readonly requestedModel: string;
  /** It only transcribes what it hears (contract: realtime/transcription). */
  readonly transcribes: boolean;
  /** Its slot of concurrency. */
  readonly claim: Claim;
  /** Makes its socket, once, for who listens to it. */
  readonly accept: () => WebSocket;
  /** It is not accepted. */
  readonly drop: () => void;
  /** Of the provider's answer: which of the client's protocols it took; null: none. */
  readonly protocol: string | null;
}

/**
 * Opens a session (contract: realtime/session): checked and limited as a call, then asked for at the targets of its plan
 * in order. A refusal is answered by HTTP, with its row; an open session has none, because its responses do.
 * @param arrival its body is an empty object.
 * @param room whether there is room for one more connection of the key.
 * @returns null: it is refused.
 */
export async function openSession(
  runtime: Runtime,
  arrival: Arrival,
  lane: Reply,
  room: (snapshot: KeySnapshot) => Refusal | null,
): Promise<OpenSession | null> {
  const call = openCall(runtime, arrival);
  const reply = new LiveReply(lane);
  try {
    const matched = matchOperation(call);
    if (isRefusal(matched)) throw await refuseAddress(runtime, call, matched);
    const known = await authenticate(runtime, matched);
    const full = room(known.snapshot);
    if (full) throw new Refused(full);
    const { family } = known;
    if (family === null) throw new Error('a session is of a family');
    const planned = forTranscripts(planCall(runtime, await parseAsk(runtime, extendCall(known, { family }))));
    const claimed = await claimSession(runtime, planned);
    const { claim, snapshot, ask } = claimed;
    const { accept, drop, target, protocol } = await attempt(runtime, claimed);
    const requestedModel = ask.requestedModel ?? ask.model;
    const transcribes = isForTranscripts(ask);
    return { id: call.id, snapshot, target, requestedModel, transcribes, claim, accept, drop, protocol };
  } catch (error) {
    const sendLastByte = refuseCall(runtime, call, reply, error);
    try {
      await account(runtime, call, reply);
      sendLastByte(reply);
    } catch (unaccounted) {
      runtime.report(unaccounted, call.id);
      breakOff(call, reply);
    }
    return null;
  }
}

/**
 * A session of a model that does not speak is for transcripts, whether or not its query says so
 * (contract: realtime/transcription).
 * @throws Refused when the query asks for transcripts of a model that speaks.
 */
function forTranscripts(call: PlannedCall): PlannedCall {
  const [target] = call.plan.targets;
  if (!target) return call;
  const { ask } = call;
  if (!target.model.output.includes('audio')) {
    return extendCall(call, { ask: { ...ask, params: { ...ask.params, intent: 'transcription' } } });
  }
  if (!isForTranscripts(ask)) return call;
  throw new Refused(
    refusal(
      'invalid_body',
      `The model ${target.model.id} speaks; a session with "intent=transcription" needs a "model" that only transcribes. Name such a model, or leave out "intent" to talk to this one.`,
    ),
  );
}

/** Its slot, and a unit of its requests a minute. */
async function claimSession(runtime: Runtime, call: PlannedCall): Promise<ClaimedCall> {
  await claimRate(runtime, call, 'rate');
  const { claim, plan } = call;
  if (plan.failure) throw new Refused(plan.failure);
  if (claim === null) throw new Error('a call that is not refused has a claim');
  return extendCall(call, { claim });
}

/** The session is over: its slot is free. */
export function releaseSession(runtime: Runtime, { claim }: Pick<OpenSession, 'claim'>): void {
  runtime.coordinator?.release(claim, {
    atMs: runtime.clock.now(),
    chargeNano: 0n,
    tokens: 0,
    undone: false,
  });
}

/** The targets in order, until one accepts. */
async function attempt(
  runtime: Runtime,
  call: ClaimedCall,
): Promise<Pick<OpenSession, 'accept' | 'drop' | 'target' | 'protocol'>> {
  const { targets, attempts } = call.plan;
  for (const [at, planned] of targets.slice(0, attempts).entries()) {
    const running = runtime.health.begin(planned, runtime.clock.now(), at > 0);
    if (!running) continue;
    const { target, handshake } = await ask(runtime, call, planned, running);
    if (handshake?.kind !== 'open') continue;
    const { accept, drop, headers } = handshake;
    const protocol = headers['sec-websocket-protocol'];
    return { accept, drop, target, protocol: typeof protocol === 'string' ? protocol : null };
  }
  const told = call.outcome.attempts.map((one) => `${one.provider}: ${one.error ?? one.status}`).join(', ');
  throw new Refused(
    refusal('upstream_request_failed', `No provider accepted the session (${told}); retry with backoff.`),
  );
}

/** One attempt: its record and its report to the health of its offer. */
async function ask(runtime: Runtime, call: ClaimedCall, planned: Target, running: AttemptReport) {
  const { clock, pools, access } = runtime;
  const beganMono = clock.mono();
  let handshake: Handshake | null = null;
  let failure: unknown = null;
  let target = planned;
  try {
    const ready = await readyAttempt(access, call, planned);
    target = ready.target;
    if (ready.unsent) throw ready.unsent.error;
    handshake = await openSocket(
      poolFor(pools, { target, fresh: true, timeLimits: call.plan.timeLimits }, target.address.origin),
      {
        ...request(runtime, call, target),
        timeoutMs: limitsOfModel(call.plan.timeLimits, target.model).firstByteMs,
      },
    );
  } catch (error) {
    failure = error;
  }
  const shortage = failure === null ? null : shortageIn(failure);
  const fault =
    handshake?.kind === 'refused' ? faultOf(call, target, handshake.status, parsed(handshake.body)) : null;
  const error = failure === null ? null : failureName(shortage ?? failure);
  const record: AttemptRecord = {
    provider: target.offer.provider.id,
    model: target.model.id,
    credential: target.credential.name,
    status: handshake === null ? null : handshake.kind === 'open' ? 101 : handshake.status,
    error,
    startMs: Math.round(beganMono - call.startMono),
    durationMs: Math.round(clock.mono() - beganMono),
    upstreamRequestId: handshake && providerRequestId(handshake.headers, target.credential.secret),
    possibleDuplicate: false,
    ...providerError(fault),
  };
  call.outcome.attempts.push(record);
  const nowMs = clock.now();
  if (shortage) running.abandoned(nowMs);
  else if (handshake?.kind === 'open') running.succeeded(null, true, nowMs);
  else if (handshake && fault) {
    const { status, headers } = handshake;
    const credential = credentialFaultOf(status, fault);
    running.failed(
      { status, what: fault.kind, credential, retryAfterMs: retryAfterMs(headers, nowMs) },
      nowMs,
    );
  } else
    running.failed(
      { status: null, what: error ?? 'unexpected_answer', credential: null, retryAfterMs: null },
      nowMs,
    );
  running.over();
  if (shortage) throw new Refused(unaccountable('cannot reach providers', shortage));
  return { target, handshake };
}

function request({ limits }: Runtime, call: ClaimedCall, target: Target) {
  const { ask, family, arrival, snapshot } = call;
  const headers = headersToProvider(arrival.headers, {
    credential: credentialHeaderOf(family, target.offer.provider, target.credential),
    body: 'none',
    denyBetas: target.offer.denyBetas,
    workspaceId: snapshot.workspace.id,
  });
  const protocols = arrival.headers['sec-websocket-protocol'];
  if (protocols) headers.push('sec-websocket-protocol', protocols);
  const root = target.address.pathname.replace(/\/+$/, '');
  return {
    path: `${root}${family.upstreamPath(ask, target.offer)}`,
    headers,
    maxBytes: limits.maxBodyBytes,
  };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
