import { Refused, unaccountable } from '#lib/core/errors';
import type { ClaimedCall } from '#lib/gateway/flow/call/call';
import { recordOf } from '#lib/gateway/flow/call/record';
import type { Runtime } from '#lib/gateway/flow/runtime';

/**
 * Who is about to spend what: on disk before the first byte goes to a provider (contract: durability/journal).
 * @throws Refused `local_quota_not_configured` when the disk refuses; nothing has been sent then.
 */
export function openEntry(runtime: Runtime, call: ClaimedCall): Promise<void> | undefined {
  const { claim } = call;
  if (claim.funding === 'none') return undefined;
  return runtime.journal
    ?.append({
      kind: 'open',
      callId: call.id,
      atMs: call.startMs,
      holdNano: claim.holdNano,
      tokens: claim.tokens,
      funding: claim.funding,
      call: recordOf(call, call.startMono),
    })
    .catch((error: unknown) => {
      runtime.report(error, call.id);
      throw new Refused(unaccountable('cannot write its journal', error));
    });
}
