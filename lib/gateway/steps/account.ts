import { type Call, recordOf } from '#lib/gateway/call';
import type { Runtime } from '#lib/gateway/runtime';
import { countedTokens } from '#lib/metering/usage';

/**
 * The one accounting call, for success and failure alike: the journal learns how the call ended before
 * the last byte of the answer goes out; then slot, hold and tokens are free again. A caller whose key
 * never resolved leaves no row.
 * @throws when the journal cannot be written: the answer must then not end as if it were whole.
 */
export async function account(runtime: Runtime, call: Call): Promise<void> {
  if (!call.snapshot || !runtime.journal) {
    if (call.refusal) runtime.tally.turnedAway(call.refusal.code);
    return;
  }
  const { claim } = call;
  const record = recordOf(call, runtime.clock.mono());
  if (call.operation) runtime.tally.ended(call.operation, record);
  try {
    await runtime.journal.append(
      claim
        ? { kind: 'close', callId: call.id, funding: claim.funding, call: record }
        : { kind: 'refused', callId: call.id, call: record },
    );
    if (call.refusal && !claim) await pace(runtime, call.snapshot.key.id);
  } catch (error) {
    // Our own error answer is whole without the journal: its row waits in memory for the drain.
    if (!call.refusal) throw error;
    runtime.report(error, call.id);
  } finally {
    if (claim) {
      runtime.coordinator?.release(claim, {
        atMs: runtime.clock.now(),
        chargeNano: call.costNano,
        tokens: tokensOf(call),
        // Refused before any attempt: every counter goes back, RPM included (decisions §3).
        undone: call.refusal !== null && call.attempts.length === 0,
      });
    }
  }
}

/** What TPM counts in the end; null, the estimate, of a job: what it uses is not known within the window. */
function tokensOf({ jobOpened, usageSource, usage }: Call): number | null {
  if (jobOpened) return null;
  return usageSource === 'none' ? 0 : countedTokens(usage);
}

/** A key refused in floods waits a little: the flood must not become the log's. */
function pace(runtime: Runtime, keyId: string): Promise<void> | null {
  const delayMs = runtime.refusals.delayMs(keyId, runtime.clock.now());
  return delayMs === 0 ? null : new Promise((resolve) => setTimeout(resolve, delayMs));
}
