import type { Adjustment, Attempt, Call, Job } from '#generated/client';
import type { Usage } from '#lib/metering/usage';
import { formatUsd } from '#lib/money';
import { type JobDetail, jobDetail } from '#lib/queries/job-detail';
import { type ChargeLine, storedLines, storedUsage } from '#lib/queries/stored-charge';

interface CallAttempt {
  provider: string;
  model: string;
  status: number | null;
  error: string | null;
  startMs: number;
  durationMs: number;
  upstreamRequestId: string | null;
  possibleDuplicate: boolean;
}

/** A call as "call show" prints it (operations.md "JSON shapes"), ready for JSON.stringify. */
export interface CallDetail {
  id: string;
  clientRequestId: string | null;
  at: string;
  /** Slug. */
  workspace: string;
  /** Key id. */
  key: string;
  keyName: string | null;
  family: string;
  operation: string;
  requestedModel: string | null;
  answeringModel: string | null;
  provider: string | null;
  status: number;
  errorCode: string | null;
  streamed: boolean;
  latencyMs: number;
  firstByteMs: number | null;
  overheadMs: number;
  endReason: string;
  usageSource: string;
  cost: string;
  /** What the charge exceeded the hold by, dollars. */
  overHold: string;
  flags: string[];
  priceVersion: string | null;
  userAgent: string | null;
  usage: Usage;
  lines: ChargeLine[];
  attempts: CallAttempt[];
  /** The job that it created; null: none. Once it is settled, cost, usage and lines are the job's. */
  job: JobDetail | null;
  /**
   * The call was charged by estimate, and its stored response told its usage later: cost, usage and lines are then
   * by that. `amount` is what was charged more, below zero what was given back, dollars. null: none.
   */
  adjustment: { amount: string; settledAt: string } | null;
}

/** Names that a call row holds as ids. */
export interface CallNames {
  readonly workspaceSlug: string | null;
  readonly keyName: string | null;
}

/**
 * A row of the log, its attempts (in order) and its job as the console and the command line show them. A
 * job's charge is that of the call that created it, which is charged nothing itself.
 */
export function callDetail(
  call: Call,
  attempts: readonly Attempt[],
  job: Job | null,
  adjustment: Adjustment | null,
  names: CallNames,
): CallDetail {
  const used = job && job.usageSource !== 'none' ? job : call;
  const charged = [call.lines, job?.lines].flatMap(storedLines);
  const settledAt = adjustment?.settledAt ?? null;
  const adjusted = settledAt === null ? null : adjustment;
  return {
    id: call.id,
    clientRequestId: call.clientRequestId,
    at: call.at.toISOString(),
    workspace: names.workspaceSlug ?? call.workspaceId,
    key: call.keyId,
    keyName: names.keyName,
    family: call.family,
    operation: call.operation,
    requestedModel: call.requestedModel,
    answeringModel: call.answeringModel,
    provider: call.provider,
    status: call.status,
    errorCode: call.errorCode,
    streamed: call.streamed,
    latencyMs: call.latencyMs,
    firstByteMs: call.firstByteMs,
    overheadMs: call.overheadMs,
    endReason: call.endReason,
    usageSource: adjusted ? 'reported' : used.usageSource,
    cost: formatUsd(call.costNano + (job?.costNano ?? 0n) + (adjusted?.amountNano ?? 0n)),
    overHold: formatUsd(call.overHoldNano + (job?.overHoldNano ?? 0n) + (adjusted?.overHoldNano ?? 0n)),
    flags: [...new Set([...call.flags, ...(job?.flags ?? []), ...(adjusted?.flags ?? [])])],
    priceVersion: call.priceVersionId ?? job?.priceVersionId ?? null,
    userAgent: call.userAgent,
    usage: storedUsage(adjusted ? adjusted.usage : used.usage),
    lines: adjusted ? storedLines(adjusted.lines) : charged,
    job: job ? jobDetail(job) : null,
    adjustment:
      adjusted && settledAt
        ? { amount: formatUsd(adjusted.amountNano), settledAt: settledAt.toISOString() }
        : null,
    attempts: attempts.map((attempt) => ({
      provider: attempt.provider,
      model: attempt.model,
      status: attempt.status,
      error: attempt.error,
      startMs: attempt.startMs,
      durationMs: attempt.durationMs,
      upstreamRequestId: attempt.upstreamRequestId,
      possibleDuplicate: attempt.possibleDuplicate,
    })),
  };
}
