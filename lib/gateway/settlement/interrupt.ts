import { noUsage } from '#lib/core/metering/usage';
import type { CheckpointEntry, CloseEntry, OpenEntry } from '#lib/gateway/settlement/pure/entry';

/**
 * How a call ends whose process died: charged what its last checkpoint had seen, never above its hold;
 * nothing without a checkpoint (contract: money/interrupted).
 */
export function interrupt(open: OpenEntry, checkpoint: CheckpointEntry | null): CloseEntry {
  const seen = checkpoint?.call ?? {
    ...open.call,
    usage: noUsage,
    usageSource: 'none' as const,
    lines: [],
    costNano: 0n,
  };
  // A hold may have grown since the call was opened.
  const holdNano = seen.holdNano > open.holdNano ? seen.holdNano : open.holdNano;
  return {
    kind: 'close',
    callId: open.callId,
    funding: open.funding,
    call: {
      ...seen,
      // No answer had begun: to the client this was a failure of the gateway.
      status: seen.status > 0 ? seen.status : 500,
      endReason: 'interrupted',
      costNano: seen.costNano < holdNano ? seen.costNano : holdNano,
      holdNano,
    },
  };
}
