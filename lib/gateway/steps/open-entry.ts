import { type Call, recordOf } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';

/** Who is about to spend what: on disk before the first byte goes to a provider (architecture §3). */
export async function openEntry(runtime: Runtime, call: Call): Promise<void> {
  const { claim } = call;
  if (!claim || claim.funding === 'none') return;
  await runtime.journal?.append({
    kind: 'open',
    callId: call.id,
    atMs: call.startMs,
    holdNano: claim.holdNano,
    tokens: claim.tokens,
    funding: claim.funding,
    call: recordOf(call, call.startMono),
  });
}
