import { Refused, unaccountable } from '#lib/core/errors';
import { extendCall, type StoredCall } from '#lib/gateway/flow/call/call';
import type { Runtime } from '#lib/gateway/flow/runtime';

/**
 * Before a job is deleted or cancelled its state is read, and settled if it has ended: afterwards its cost could no
 * longer be determined (contract: jobs/removal).
 * @throws Refused `local_quota_not_configured` when its account cannot be read; nothing was ended then.
 */
export async function readJob(runtime: Runtime, call: StoredCall): Promise<void> {
  if (!call.resource.job) return;
  try {
    if (!runtime.jobs) throw new Error('this process keeps no jobs');
    extendCall(call, { jobBefore: await runtime.jobs.readFirst(call.resource.callId) });
  } catch (error) {
    runtime.report(error, call.id);
    throw new Refused(unaccountable('cannot account for the job right now, so it was not ended'));
  }
}
