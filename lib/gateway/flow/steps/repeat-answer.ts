import { isRefusal, Refused, refusal, retryIn, unaccountable } from '#lib/core/errors';
import { isMultipart } from '#lib/core/families/multipart/boundary';
import { type Call, extendCall, type PlannedCall } from '#lib/gateway/flow/call/call';
import { endCall } from '#lib/gateway/flow/call/end-call';
import { recordOf } from '#lib/gateway/flow/call/record';
import type { HeaderList } from '#lib/gateway/flow/lane';
import type { LiveReply } from '#lib/gateway/flow/relay/live-reply';
import type { SendLastByte } from '#lib/gateway/flow/relay/parts';
import type { Runtime } from '#lib/gateway/flow/runtime';
import { claimRate } from '#lib/gateway/flow/steps/claim-call';
import { placeCall } from '#lib/gateway/flow/upload/take-place';
import type {
  AnswerClaim,
  Found,
  KeptAnswer,
  KeptAnswers,
  RepeatedCall,
} from '#lib/gateway/repeats/kept-answers';
import { repeatSeconds, type Wish, wishOf } from '#lib/gateway/repeats/pure/wish';

/** How long a call waits for one that is making its answer, ms (contract: repeats/running). */
const WAIT_MS = 60_000;
const RETRY_SECONDS = 5;

/** Headers of an answer that belong to one call and its connection; `call.headers` are others. */
const ownHeaders = new Set(['connection', 'content-length', 'transfer-encoding', 'keep-alive', 'date']);

/**
 * The kept answer to a request that its key lets be repeated or answered from the cache (contract: repeats/order).
 * @returns null: a provider has to answer. The call may then have claimed to make the answer that others wait for.
 */
export async function repeatAnswer(
  runtime: Runtime,
  call: PlannedCall,
  reply: LiveReply,
): Promise<SendLastByte | null> {
  const { answers } = runtime;
  const wish = answers === null ? null : wishFor(call);
  // A call that may go nowhere is refused as usual.
  if (answers === null || wish === null || call.plan.failure) return null;
  await placeCall(runtime, call);
  const tell = (error: unknown) => runtime.report(error, call.id);
  const found = await look(runtime, answers, call, wish);
  if (found?.state === 'kept') {
    await claimRate(runtime, call, 'rate');
    await answers.note(repeatedCall(call, wish.kind, found.answer)).catch(tell);
    return repeat(call, wish.kind, found.answer);
  }
  if (found?.state === 'other') throw usedForAnother();
  if (found?.state === 'running' && wish.kind === 'repeat') throw stillRunning();
  if (wish.kind === 'cache') call.headers.push('x-cache', 'miss');
  if (found?.state === 'claimed') {
    extendCall(call, { answerClaim: found.claim });
    reply.copyTo(found.claim.copy);
  }
  return null;
}

/**
 * Keeps the answer that a call has made, before its last byte goes out; others that wait for it get it then. Without a
 * whole answer of status 2xx, another call may make it (contract: repeats/kept).
 */
export async function keepAnswer(
  runtime: Runtime,
  call: Call,
  claim: AnswerClaim,
  sendLastByte: SendLastByte,
): Promise<void> {
  const { status, refusal: refused, whole, charge } = call.outcome;
  const { target } = call;
  try {
    if (refused !== null || !whole || status < 200 || status > 299 || target === null) {
      await claim.forget();
      return;
    }
    sendLastByte(claim.copy);
    const copied = claim.copy.close();
    if (copied === null) {
      await claim.forget();
      return;
    }
    const answer = {
      ...copied,
      headers: sharedHeaders(copied.headers, call.headers),
      offerId: target.offer.id,
      priceId: target.price.id,
      model: target.model.id,
      provider: target.offer.provider.id,
      costNano: charge.costNano,
    };
    await writeCharge(runtime, call);
    await claim.keep(answer, claim.wanted.kind === 'repeat' ? repeatSeconds : claim.wanted.maxAgeSeconds);
  } catch (error) {
    // It goes to its client nevertheless; a repeat of the request is then a call of its own.
    runtime.report(error, call.id);
    await forgetAnswer(runtime, call, claim);
  }
}

/** If the process is killed before the call ends, recovery charges what its answer costs (contract: repeats/killed). */
async function writeCharge({ journal, clock }: Runtime, call: Call): Promise<void> {
  if (call.claim === null || call.claim.funding === 'none') return;
  await journal?.append({ kind: 'checkpoint', callId: call.id, call: recordOf(call, clock.mono()) });
}

/** The client must not get the answer, so it is not kept for others either. */
export async function forgetAnswer(runtime: Runtime, call: Call, claim: AnswerClaim): Promise<void> {
  await claim.forget().catch((error: unknown) => runtime.report(error, call.id));
}

function wishFor(call: PlannedCall): Wish | null {
  const rule = call.snapshot.repeats;
  const { arrival, operation } = call;
  if (!rule || operation.steps !== 'generate') return null;
  // The parts of a form lie on the disk, and are not compared.
  if (isMultipart(arrival.headers['content-type'] ?? '')) return null;
  const wish = wishOf(rule, { headers: arrival.headers, cacheable: isCacheable(call) });
  if (isRefusal(wish)) throw new Refused(wish);
  return wish;
}

/**
 * Answers that have an id at a provider are never cached, nor are those that continue one
 * (contract: repeats/cacheable).
 */
function isCacheable({ ask, family, operation, resource, pinned }: PlannedCall): boolean {
  if (resource !== null || pinned !== null || ask.references !== undefined) return false;
  if (ask.job !== undefined || ask.stored !== undefined) return false;
  const shows = family.shown !== undefined && operation.shows !== false && ask.shows !== false;
  return !shows || ask.unkept === true;
}

async function look(
  runtime: Runtime,
  answers: KeptAnswers,
  call: PlannedCall,
  wish: Wish,
): Promise<Found | null> {
  const { snapshot, arrival, operation, ask, plan } = call;
  const { workspace, key } = snapshot;
  const [path = ''] = arrival.target.split('?', 1);
  const identity = answers.identify(wish, {
    workspaceId: workspace.id,
    keyId: key.id,
    operation: operation.name,
    path,
    query: call.query,
    body: ask.scan.body,
    model: ask.model,
    chain: ask.chain ?? [],
    scope: key.models && [...key.models],
    maxOutputTokens: key.maxOutputTokens,
    headers: arrival.headers,
  });
  const wanted = {
    ...identity,
    kind: wish.kind,
    workspaceId: workspace.id,
    keyId: key.id,
    callId: call.id,
    maxAgeSeconds: wish.kind === 'repeat' ? repeatSeconds : wish.seconds,
    isGone: () => call.outcome.gone,
    usable: ({ offerId, priceId }: { offerId: string; priceId: string }) =>
      wish.kind === 'repeat' ||
      plan.targets.some(({ offer, price }) => offer.id === offerId && price.id === priceId),
  };
  try {
    return await answers.find(wanted, runtime.clock.mono() + WAIT_MS);
  } catch (error) {
    runtime.report(error, call.id);
    if (wish.kind === 'cache') return null;
    throw new Refused(unaccountable('cannot look up the Idempotency-Key right now', error));
  }
}

function repeatedCall(
  { id, startMs, snapshot }: PlannedCall,
  kind: Wish['kind'],
  answer: KeptAnswer,
): RepeatedCall {
  const { workspace, key } = snapshot;
  return { callId: id, workspaceId: workspace.id, keyId: key.id, atMs: startMs, kind, answer };
}

function repeat(call: PlannedCall, kind: Wish['kind'], { status, headers, body }: KeptAnswer): SendLastByte {
  call.outcome.status = status;
  call.outcome.repeated = kind;
  call.outcome.delivered = true;
  endCall(call, { by: 'answer', failed: false });
  const mark = kind === 'repeat' ? ['idempotent-replayed', 'true'] : ['x-cache', 'hit'];
  const length = ['content-length', String(body.length)];
  return (reply) => {
    reply.start(status, [...call.headers, ...headers, ...mark, ...length]);
    reply.end(body);
  };
}

/** Those that a repeat of the answer may have too. @param own headers of the call, which each answer sets itself. */
function sharedHeaders(headers: readonly string[], own: HeaderList): HeaderList {
  const left = new Set([...ownHeaders, ...own.filter((_, at) => at % 2 === 0)]);
  const shared: HeaderList = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2);
    if (!left.has(name)) shared.push(name, value);
  }
  return shared;
}

function usedForAnother(): Refused {
  return new Refused(
    refusal(
      'invalid_body',
      'This Idempotency-Key was used for another request in the last 24 hours; send a new one, or the same path and body again.',
    ),
  );
}

function stillRunning(): Refused {
  return new Refused(
    refusal(
      'idempotency_key_in_use',
      `The first request with this Idempotency-Key is still running; send it again to get its answer. ${retryIn(RETRY_SECONDS)}`,
      { retryAfterSeconds: RETRY_SECONDS },
    ),
  );
}
