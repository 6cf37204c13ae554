import type { Call } from '#lib/gateway/flow/call/call';
import { readUserAgent } from '#lib/gateway/flow/call/user-agent';
import type { CallRecord } from '#lib/gateway/settlement/pure/entry';

/** Status in the log of a call whose client left before any answer (contract: call-log/gone-before-answer). */
export const CLIENT_GONE = 499;

/** Operation in log and metrics of a call to an address that is not served. */
export const unserved = { family: 'unknown', name: 'unknown' } as const;

/** The row of the call log at this moment (contract: call-log/row). */
export function recordOf(call: Call, nowMono: number): CallRecord {
  const latency = nowMono - call.startMono;
  const { charge } = call.outcome;
  return {
    id: call.id,
    clientRequestId: call.clientRequestId,
    atMs: call.startMs,
    workspaceId: call.snapshot?.workspace.id ?? '',
    keyId: call.snapshot?.key.id ?? '',
    family: (call.operation ?? unserved).family,
    operation: (call.operation ?? unserved).name,
    // What is stored without a model has none.
    requestedModel: (call.ask?.requestedModel ?? call.ask?.model ?? call.params.model) || null,
    answeringModel: call.target?.model.id || null,
    provider: call.target?.offer.provider.id ?? null,
    status: call.outcome.status,
    errorCode:
      call.outcome.refusal === null || call.outcome.status === CLIENT_GONE ? null : call.outcome.refusal.code,
    streamed: call.ask?.stream ?? false,
    latencyMs: Math.round(latency),
    firstByteMs:
      call.outcome.firstByteMono === null ? null : Math.round(call.outcome.firstByteMono - call.startMono),
    overheadMs: Math.max(0, Math.round((latency - call.outcome.upstreamMs) * 1000) / 1000),
    endReason: call.outcome.endReason ?? 'completed',
    usageSource: charge.usageSource,
    flags: flagsOf(call),
    usage: charge.usage,
    lines: charge.lines,
    costNano: charge.costNano,
    holdNano: call.outcome.holdNano,
    priceVersionId: call.target?.price.id ?? null,
    userAgent: readUserAgent(call.arrival.headers['user-agent']),
    attempts: call.outcome.attempts,
    tags: call.tags,
  };
}

function flagsOf({ outcome, target, plan }: Call): readonly string[] {
  const { charge, refusal, repeated } = outcome;
  if (repeated !== null) return [repeated === 'cache' ? 'cache_hit' : 'repeat'];
  const added: string[] = refusal?.machineFault ? [refusal.machineFault] : [];
  if (refusal?.flag !== undefined) added.push(refusal.flag);
  if (target?.credential.own) added.push('own_key');
  else if (target && plan?.targets.some(({ pool }) => pool.some(({ own }) => own?.use === 'first')))
    added.push('own_key_fallback');
  return added.length === 0 ? charge.flags : [...charge.flags, ...added];
}
