import type { Call } from '#lib/gateway/flow/call/call';
import { readUserAgent } from '#lib/gateway/flow/call/user-agent';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';

/** Status in the log of a call whose client left before any answer (contract: call-log/gone-before-answer). */
export const CLIENT_GONE = 499;

/** Operation in log and metrics of a call to an address that is not served. */
export const unserved = { family: 'unknown', name: 'unknown' } as const;

/** The row of the call log as things stand now (contract: call-log/row). */
export function recordOf(call: Call, nowMono: number): CallRecord {
  const latency = nowMono - call.startMono;
  const { charge } = call;
  return {
    id: call.id,
    clientRequestId: call.clientRequestId,
    atMs: call.startMs,
    workspaceId: call.snapshot?.workspace.id ?? '',
    keyId: call.snapshot?.key.id ?? '',
    family: (call.operation ?? unserved).family,
    operation: (call.operation ?? unserved).name,
    requestedModel: call.ask?.requestedModel ?? call.ask?.model ?? call.params.model ?? null,
    answeringModel: call.target?.model.id ?? null,
    provider: call.target?.offer.provider.id ?? null,
    status: call.status,
    errorCode: call.refusal === null || call.status === CLIENT_GONE ? null : call.refusal.code,
    streamed: call.ask?.stream ?? false,
    latencyMs: Math.round(latency),
    firstByteMs: call.firstByteMono === null ? null : Math.round(call.firstByteMono - call.startMono),
    overheadMs: Math.max(0, Math.round((latency - call.upstreamMs) * 1000) / 1000),
    endReason: call.endReason ?? 'completed',
    usageSource: charge.usageSource,
    flags: call.refusal?.machineFault ? [...charge.flags, call.refusal.machineFault] : charge.flags,
    usage: charge.usage,
    lines: charge.lines,
    costNano: charge.costNano,
    holdNano: call.holdNano,
    priceVersionId: call.target?.price.id ?? null,
    userAgent: readUserAgent(call.arrival.headers['user-agent']),
    attempts: call.attempts,
  };
}
