import type { Call } from '#lib/gateway/flow/call/call';
import type { EndReason } from '#lib/gateway/settlement/pure/entry';

/** What ended a call. */
export type CallEnd =
  /** The answer is complete. `failed`: it was, or carried, an error that is not the client's. */
  | { readonly by: 'answer'; readonly failed: boolean }
  /** An attempt or an answer broke off. `name`: as `failureName` gives it. */
  | { readonly by: 'failure'; readonly name: string }
  /** The gateway refused the call. */
  | { readonly by: 'refusal' }
  /** An error of the gateway's own. */
  | { readonly by: 'fault' }
  /** Its charge could not be written, so the end of its answer is withheld (contract: durability/withheld-answer). */
  | { readonly by: 'accounting' };

/**
 * Writes how a call ended (contract: call-log/end-reason); the only place that does. A refusal that follows from how
 * an attempt or an answer ended does not change that.
 */
export function endCall(call: Call, end: CallEnd): void {
  if (end.by === 'refusal' && call.outcome.endReason !== null && call.outcome.endReason !== 'completed')
    return;
  call.outcome.endReason = endReasonOf(end, call);
}

function endReasonOf(end: CallEnd, { outcome: { gone, delivered } }: Call): EndReason {
  switch (end.by) {
    case 'refusal':
      return 'refused';
    case 'fault':
      return 'upstream_error';
    case 'accounting':
      return 'interrupted';
    case 'answer':
      if (gone && !delivered) return 'client_gone';
      return end.failed ? 'upstream_error' : 'completed';
    case 'failure':
      if (gone) return delivered ? 'completed' : 'client_gone';
      return end.name.endsWith('timeout') ? 'timeout' : 'upstream_error';
  }
}
