import { isRefusal } from '#lib/core/errors';
import {
  type AskedCall,
  type AuthenticatedCall,
  type FamilyCall,
  openCall,
} from '#lib/gateway/flow/call/call';
import type { Arrival, Reply } from '#lib/gateway/flow/lane';
import { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { account } from '#lib/gateway/flow/steps/account';
import { answerCount, isEstimated } from '#lib/gateway/flow/steps/answer-count';
import { answerList, answerModels } from '#lib/gateway/flow/steps/answer-here';
import { answerPreflight } from '#lib/gateway/flow/steps/answer-preflight';
import { answerWarmUp } from '#lib/gateway/flow/steps/answer-warm-up';
import { attemptTargets } from '#lib/gateway/flow/steps/attempt-targets';
import { authenticate, refuseAddress } from '#lib/gateway/flow/steps/authenticate';
import { checkBatchHold } from '#lib/gateway/flow/steps/check-batch-hold';
import { claimCall, claimRate } from '#lib/gateway/flow/steps/claim-call';
import { GoneWatch } from '#lib/gateway/flow/steps/client-gone';
import { withRoom } from '#lib/gateway/flow/steps/file-room';
import { copyContent, keepContent } from '#lib/gateway/flow/steps/keep-content';
import { keepResults } from '#lib/gateway/flow/steps/keep-results';
import { matchOperation } from '#lib/gateway/flow/steps/match-operation';
import { openEntry } from '#lib/gateway/flow/steps/open-entry';
import { askOfStored, ownResource, remixOf } from '#lib/gateway/flow/steps/own-resource';
import { parseAsk } from '#lib/gateway/flow/steps/parse-ask';
import { parseBatch, planBatch } from '#lib/gateway/flow/steps/parse-batch';
import { pinCall } from '#lib/gateway/flow/steps/pin-call';
import { planCall, planStoredCall } from '#lib/gateway/flow/steps/plan-call';
import { planUpload } from '#lib/gateway/flow/steps/read-batch-file';
import { readJob } from '#lib/gateway/flow/steps/read-job';
import { readRequests } from '#lib/gateway/flow/steps/read-requests';
import { breakOff, refuseCall } from '#lib/gateway/flow/steps/refuse-call';
import { relayAnswer } from '#lib/gateway/flow/steps/relay-answer';
import { forgetAnswer, keepAnswer, repeatAnswer } from '#lib/gateway/flow/steps/repeat-answer';
import { announcedBytes, bindPart, giveAddress, withTicket } from '#lib/gateway/flow/steps/resumable-upload';
import { checkTime, timeCache } from '#lib/gateway/flow/steps/time-cache';
import { letBodyGo } from '#lib/gateway/flow/upload/let-body-go';
import { takePlace } from '#lib/gateway/flow/upload/take-place';

/**
 * How a request travels: each line is a step, each step has its file, and the type of the call says what is known after
 * it. One try, one error exit, one accounting call; the last byte goes out when the books are closed
 * (contract: durability/last-byte).
 */
export async function serve(runtime: Runtime, arrival: Arrival, lane: Reply): Promise<void> {
  const call = openCall(runtime, arrival);
  if (answerPreflight(runtime, call, lane)) return;
  const reply = new LiveReply(lane);
  const client = new GoneWatch(runtime, call, reply);
  let sendLastByte: SendLastByte;
  try {
    const matched = matchOperation(call);
    if (isRefusal(matched)) throw await refuseAddress(runtime, call, matched);
    const known = await authenticate(runtime, withTicket(runtime, matched));
    sendLastByte = await answer(runtime, known, client, reply);
  } catch (error) {
    sendLastByte = refuseCall(runtime, call, reply, error);
  }
  const { answerClaim } = call;
  if (answerClaim) await keepAnswer(runtime, call, answerClaim, sendLastByte);
  try {
    await account(runtime, call, reply);
    sendLastByte(reply);
  } catch (error) {
    runtime.report(error, call.id);
    if (answerClaim) await forgetAnswer(runtime, call, answerClaim);
    breakOff(call, reply);
  }
  keepContent(runtime, call);
  client.done();
}

function answer(
  runtime: Runtime,
  call: AuthenticatedCall,
  client: GoneWatch,
  reply: LiveReply,
): Promise<SendLastByte> {
  if (!isOfFamily(call)) return listModels(runtime, call);
  return call.operation.steps === 'stored'
    ? serveStored(runtime, call, client, reply)
    : generate(runtime, call, client, reply);
}

/** A provider generates an answer from the body, or counts its tokens, if the gateway does not estimate them. */
async function generate(
  runtime: Runtime,
  call: FamilyCall,
  client: GoneWatch,
  reply: LiveReply,
): Promise<SendLastByte> {
  const { resource } = call.operation;
  const owned = resource ? await remixOf(runtime, await ownResource(runtime, call, resource)) : call;
  const bound = call.operation.caches ? await timeCache(runtime, owned) : owned;
  await takePlace(runtime, bound);
  if (bound.operation.runsFile || bound.operation.runsRequests)
    return runBatch(runtime, bound, client, reply);
  const asked = await parseAsk(runtime, bound);
  checkTime(runtime, bound);
  if (asked.ask.references) await pinCall(runtime, asked);
  if (isEstimated(runtime, asked)) return estimateCount(runtime, asked);
  if (call.arrival.warmUp) return warmUp(runtime, asked);
  const planned = planCall(runtime, asked);
  if (planned.snapshot.repeats) {
    const repeated = await repeatAnswer(runtime, planned, reply);
    if (repeated) return repeated;
  }
  const claimed = await claimCall(runtime, planned);
  await openEntry(runtime, claimed);
  copyContent(runtime, claimed, reply);
  const given = await attemptTargets(runtime, claimed, client);
  letBodyGo(claimed, given);
  return relayAnswer(runtime, claimed, given, reply);
}

/** A provider runs the requests of a file or of the body, as one job. */
async function runBatch(
  runtime: Runtime,
  call: FamilyCall,
  client: GoneWatch,
  reply: LiveReply,
): Promise<SendLastByte> {
  const planned = call.operation.runsRequests
    ? await readRequests(runtime, call)
    : planBatch(runtime, await parseBatch(runtime, call));
  checkBatchHold(planned);
  const claimed = await claimCall(runtime, planned);
  await openEntry(runtime, claimed);
  copyContent(runtime, claimed, reply);
  const given = await attemptTargets(runtime, claimed, client);
  letBodyGo(claimed, given);
  return relayAnswer(runtime, claimed, given, reply);
}

/** The gateway estimates the tokens of a request that would be translated. */
async function estimateCount(runtime: Runtime, call: AskedCall): Promise<SendLastByte> {
  await claimRate(runtime, call, 'rate');
  return answerCount(call);
}

/** The gateway answers a request that only prepares others. */
async function warmUp(runtime: Runtime, call: AskedCall): Promise<SendLastByte> {
  await claimRate(runtime, call, 'rate');
  return answerWarmUp(call);
}

/** What a provider stores is read, changed or ended there; the gateway itself lists what a workspace has. */
async function serveStored(
  runtime: Runtime,
  call: FamilyCall,
  client: GoneWatch,
  reply: LiveReply,
): Promise<SendLastByte> {
  const { resource, resourceEffect, lists, stores, resumable } = call.operation;
  if (lists) {
    await claimRate(runtime, call, 'rate');
    return answerList(runtime, call, lists);
  }
  if (resumable === 'start') announcedBytes(call.arrival);
  if (stores) return store(runtime, resumable === 'part' ? bindPart(call) : call, client, reply);
  if (!resource) throw new Error('an operation on something stored names it');
  const owned = await ownResource(runtime, call, resource);
  await takePlace(runtime, owned);
  const asked = await askOfStored(runtime, owned);
  if (asked.ask.references) await pinCall(runtime, asked);
  const planned = planStoredCall(runtime, asked);
  const claimed = await claimCall(runtime, planned);
  if (resourceEffect) {
    await keepResults(runtime, planned);
    await readJob(runtime, planned);
  }
  const given = await attemptTargets(runtime, claimed, client);
  if (claimed.operation.fields) letBodyGo(claimed, given);
  return relayAnswer(runtime, claimed, given, reply);
}

/** A provider stores something new, which is free and needs no model. */
async function store(
  runtime: Runtime,
  call: FamilyCall,
  client: GoneWatch,
  reply: Reply,
): Promise<SendLastByte> {
  await takePlace(runtime, call);
  const asked = await askOfStored(runtime, call);
  if (asked.ask.references) await pinCall(runtime, asked);
  const claimed = await claimCall(runtime, await planUpload(runtime, asked));
  const given = await withRoom(runtime, claimed, async () => {
    const answered = await attemptTargets(runtime, claimed, client);
    if (claimed.operation.resumable === 'start') giveAddress(runtime, claimed, answered);
    return answered;
  });
  letBodyGo(claimed, given);
  return relayAnswer(runtime, claimed, given, reply);
}

/** The models lists. */
async function listModels(runtime: Runtime, call: AuthenticatedCall): Promise<SendLastByte> {
  await claimRate(runtime, call, 'models');
  return answerModels(runtime, call);
}

function isOfFamily(call: AuthenticatedCall): call is FamilyCall {
  return call.family !== null;
}
