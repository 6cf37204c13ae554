import { openCall } from '#lib/gateway/call';
import type { Arrival, Reply } from '#lib/gateway/lane';
import type { Ending } from '#lib/gateway/relay/parts';
import type { Runtime } from '#lib/gateway/runtime';
import { account } from '#lib/gateway/steps/account';
import { answerHere } from '#lib/gateway/steps/answer-here';
import { attemptTargets } from '#lib/gateway/steps/attempt-targets';
import { authenticate, refuseAddress } from '#lib/gateway/steps/authenticate';
import { claimCall } from '#lib/gateway/steps/claim-call';
import { watchClient } from '#lib/gateway/steps/client-gone';
import { matchOperation } from '#lib/gateway/steps/match-operation';
import { openEntry } from '#lib/gateway/steps/open-entry';
import { ownResource } from '#lib/gateway/steps/own-resource';
import { parseAsk } from '#lib/gateway/steps/parse-ask';
import { pinCall } from '#lib/gateway/steps/pin-call';
import { planCall } from '#lib/gateway/steps/plan-call';
import { readJob } from '#lib/gateway/steps/read-job';
import { breakOff, refuseCall } from '#lib/gateway/steps/refuse-call';
import { relayAnswer } from '#lib/gateway/steps/relay-answer';
import { letBodyGo } from '#lib/gateway/upload/let-body-go';
import { takePlace } from '#lib/gateway/upload/take-place';

/**
 * How a request travels: each line is a step, each step has its file. One try, one error exit, one accounting call;
 * the last byte goes out when the books are closed (contract: durability/last-byte). What a step returns is what to
 * wait for; where it is mostly nothing, it is not waited for.
 */
export async function serve(runtime: Runtime, arrival: Arrival, reply: Reply): Promise<void> {
  const call = openCall(runtime, arrival);
  const client = watchClient(runtime, call);
  let ending: Ending;
  try {
    const missing = matchOperation(call);
    if (missing) await refuseAddress(runtime, call, missing);
    const known = authenticate(runtime, call);
    if (known) await known;
    if (call.operation?.resource) await ownResource(runtime, call);
    const placed = takePlace(runtime, call);
    if (placed) await placed;
    await parseAsk(runtime, call);
    if (call.ask?.references) await pinCall(runtime, call);
    planCall(runtime, call);
    const claimed = claimCall(runtime, call);
    if (claimed) await claimed;
    const here = answerHere(runtime, call);
    if (here) {
      ending = await here;
    } else {
      await openEntry(runtime, call);
      if (call.operation?.ends) await readJob(runtime, call);
      const answer = await attemptTargets(runtime, call, client);
      letBodyGo(call, answer);
      ending = await relayAnswer(runtime, call, answer, reply);
    }
  } catch (error) {
    ending = refuseCall(runtime, call, error);
  }
  try {
    await account(runtime, call, reply);
    ending(reply);
  } catch (error) {
    runtime.report(error, call.id);
    breakOff(call, reply);
  }
  client.done();
}
