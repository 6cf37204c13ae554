import { Refused, unaccountable } from '#lib/core/errors';
import type { StoredCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';

/**
 * The results of a batch can be deleted only once it is charged: without them, the cost of its lines cannot be read
 * (contract: batches/results).
 * @throws Refused `local_quota_not_configured`; a retry finds it charged.
 */
export async function keepResults(runtime: Runtime, call: StoredCall): Promise<void> {
  if (call.operation.name !== 'files.delete') return;
  let owed: boolean;
  try {
    if (!runtime.jobs) throw new Error('this process keeps no jobs');
    owed = await runtime.jobs.owes(call.resource.callId);
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot look up the batch of the file right now'));
  }
  if (owed)
    throw new Refused(unaccountable('has not charged the batch of this file yet, so it was not deleted'));
}
