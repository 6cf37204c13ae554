import { Refused, refusal, unaccountable } from '#lib/core/errors';
import type { StoredCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';

/**
 * The results of a batch can be deleted only once it is charged: without them, the cost of its lines cannot be read
 * (contract: batches/results).
 * @throws Refused `results_not_charged`; a retry finds it charged. `local_quota_not_configured` if that cannot be
 * looked up.
 */
export async function keepResults(runtime: Runtime, call: StoredCall): Promise<void> {
  if (!call.operation.deletesResults) return;
  let owed: boolean;
  try {
    if (!runtime.jobs) throw new Error('this process keeps no jobs');
    owed = await runtime.jobs.owes(call.resource.callId);
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot look up the batch right now'));
  }
  if (!owed) return;
  throw new Refused(
    refusal(
      'results_not_charged',
      'The batch has not been charged yet, so its results were not deleted; a batch is charged within a minute after it has ended: retry then, or cancel it first.',
    ),
  );
}
