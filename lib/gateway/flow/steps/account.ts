import { statusOf, unaccountable } from '#lib/core/errors';
import { meteredUsage } from '#lib/core/metering/anomaly';
import { countedTokens } from '#lib/core/metering/usage';
import type { Claim } from '#lib/gateway/admission/claim';
import type { Call } from '#lib/gateway/flow/call/call';
import { chargeInFull, chargeNothing } from '#lib/gateway/flow/call/charge-call';
import { endCall } from '#lib/gateway/flow/call/end-call';
import { recordOf, unserved } from '#lib/gateway/flow/call/record';
import type { Reply } from '#lib/gateway/flow/lane';
import type { Runtime } from '#lib/gateway/flow/runtime';
import type { FlaggedCharge } from '#lib/gateway/metrics/charge-flags';
import { resolveName } from '#lib/gateway/routing/names/resolve';
import type { CallRecord, CloseEntry, RefusedEntry } from '#lib/gateway/settlement/pure/entry';

/**
 * The one accounting call, for success and failure alike: the journal learns how the call ended before
 * the last byte of the answer goes out; then slot, hold and tokens are free again. A caller whose key
 * never resolved leaves no row.
 * @throws when the charge of an answer cannot be written, so that the answer must not end as if complete. The call is
 * then accounted for as its client saw it.
 */
export async function account(runtime: Runtime, call: Call, reply: Pick<Reply, 'started'>): Promise<void> {
  const { journal } = runtime;
  if (!call.snapshot || !journal) {
    if (call.outcome.refusal) runtime.tally.turnedAway(call.outcome.refusal.code);
    return;
  }
  const { claim } = call;
  if (call.placed && !claim) runtime.coordinator?.vacate(call.id);
  const { usageSource, uncappedNano } = call.outcome.charge;
  if (claim && usageSource === 'estimated' && uncappedNano > call.outcome.holdNano) {
    await growHold(runtime, call, claim, uncappedNano);
  }
  let record = rowOf(runtime, call);
  try {
    await journal.append(entryOf(call, record));
    if (call.outcome.refusal && !claim) await pace(runtime, call.snapshot.key.id);
  } catch (error) {
    // A free call, a refusal and a client that has left do not depend on the disk.
    const withheld = record.costNano > 0n && call.outcome.refusal === null && !call.outcome.gone;
    if (withheld) {
      withholdAnswer(call, reply, error);
      record = rowOf(runtime, call);
    }
    journal.remember(entryOf(call, record));
    if (withheld) throw error;
  } finally {
    runtime.tally.ended(call.operation ?? unserved, record);
    if (call.outcome.charge.flags.length > 0)
      runtime.chargeFlags.charged(flaggedBy(call, record), runtime.clock.now());
    call.outcome.credentialUse?.end(tokensOf(call));
    if (claim) {
      runtime.coordinator?.release(claim, {
        atMs: runtime.clock.now(),
        chargeNano: call.outcome.charge.costNano,
        tokens: tokensOf(call),
        // Refused before any attempt: every counter goes back, RPM included (contract: admission/undone).
        undone: call.outcome.refusal !== null && call.outcome.attempts.length === 0,
      });
    }
  }
}

/**
 * A name in the path of a call that was refused before it was looked up is in the row only if a model has it:
 * others would make an unlimited number of usage rows (contract: call-log/unknown-models).
 */
function rowOf({ clock, catalogue }: Runtime, call: Call): CallRecord {
  const record = recordOf(call, clock.mono());
  const { ask, snapshot } = call;
  if (ask || !snapshot || record.requestedModel === null) return record;
  const models = catalogue();
  const named = resolveName(record.requestedModel, snapshot, models, null);
  return 'slug' in named && models.models.has(named.slug) ? record : { ...record, requestedModel: null };
}

function entryOf({ id, claim }: Call, record: CallRecord): CloseEntry | RefusedEntry {
  return claim
    ? { kind: 'close', callId: id, funding: claim.funding, call: record }
    : { kind: 'refused', callId: id, call: record };
}

/**
 * Withholds the end of an answer whose charge could not be written: the client gets an error, or, if the answer has
 * begun, a cut connection. The call is then free, except for a stream, whose delivered parts can be used
 * (contract: durability/withheld-answer).
 */
function withholdAnswer(call: Call, reply: Pick<Reply, 'started'>, cause: unknown): void {
  const begun = reply.started();
  call.outcome.refusal = unaccountable('could not account for the call', cause);
  if (!begun) call.outcome.status = statusOf(call.outcome.refusal);
  endCall(call, { by: 'accounting' });
  if (!begun || call.ask?.stream !== true) chargeNothing(call);
}

/** An estimate that exceeds its hold is charged as far as the hold can grow (contract: money/estimate). */
async function growHold(
  { coordinator, report }: Runtime,
  call: Call,
  claim: Claim,
  wantedNano: bigint,
): Promise<void> {
  try {
    if (!(await coordinator?.grow(claim, wantedNano))) return;
  } catch (error) {
    report(error, call.id);
    return;
  }
  chargeInFull(call.outcome, wantedNano);
}

function flaggedBy(call: Call, record: CallRecord): FlaggedCharge {
  const { id: callId, provider, answeringModel: model, flags, usage } = record;
  return {
    callId,
    provider,
    model,
    flags,
    usage,
    serviceTier: call.outcome.charge.report?.serviceTier ?? null,
  };
}

/** Tokens that TPM counts in the end; null keeps the estimate, for jobs, whose usage comes too late for the window. */
function tokensOf(call: Call): number | null {
  if (call.outcome.jobOpened) return null;
  return call.outcome.charge.usageSource === 'none' ? 0 : countedTokens(meteredUsage(call.outcome.charge));
}

/** Delays the refusals of a key that is refused in floods, so that they cannot flood the log. */
function pace(runtime: Runtime, keyId: string): Promise<void> | null {
  const delayMs = runtime.refusals.delayMs(keyId, runtime.clock.now());
  return delayMs === 0 ? null : new Promise((resolve) => setTimeout(resolve, delayMs));
}
