import { z } from 'zod';
import type { Adjustment, Call, Job } from '#generated/client';
import { type ShownFeedback, shownFeedback } from '#lib/control/operations/call/feedback';
import { jobDetail, shownJob } from '#lib/control/operations/call/job-detail';
import { chargeLine, storedLines, storedUsage } from '#lib/control/operations/call/stored-charge';
import { endUserName, type Tag } from '#lib/core/facts/tags';
import { usageClasses } from '#lib/core/metering/usage';
import { formatUsd } from '#lib/core/money';
import { storedAttempts } from '#lib/gateway/settlement/pure/record/stored-attempts';

const dollars = z.string().describe('Dollars as a decimal string.');
const moment = z.iso.datetime();

const shownAttempt = z.object({
  provider: z.string(),
  model: z.string(),
  credential: z
    .string()
    .nullable()
    .describe('The name of the credential by which the provider was called; null: only operators see it.'),
  status: z.int().nullable(),
  error: z.string().nullable(),
  startMs: z.number(),
  durationMs: z.number(),
  upstreamRequestId: z.string().nullable(),
  possibleDuplicate: z.boolean(),
  providerCode: z.string().nullable().describe('The provider’s own error code.'),
  providerMessage: z
    .string()
    .nullable()
    .describe('The first 300 bytes of its message; masked parts are shown as “…”.'),
  translatedTo: z
    .string()
    .nullable()
    .describe('The protocol in which the provider was called, if it is not the client’s own.'),
  lost: z.array(z.string()).describe('Fields of the request that the translation left out.'),
});

/** A call as "call show" prints it (contract: operations/call-show). */
export const shownCall = z.object({
  id: z.uuid(),
  clientRequestId: z.string().nullable(),
  at: moment,
  settledAt: moment.describe(
    'When its charge was posted, by the database’s clock; within 2 seconds of the end of the call.',
  ),
  workspace: z.string().describe('Slug of its workspace.'),
  key: z.uuid().describe('Id of its API key.'),
  keyName: z.string().nullable(),
  playground: z.boolean().describe('Whether it was made from a playground of the console.'),
  family: z.string(),
  operation: z.string(),
  requestedModel: z.string().nullable(),
  answeringModel: z.string().nullable(),
  provider: z.string().nullable(),
  status: z.int(),
  errorCode: z.string().nullable(),
  streamed: z.boolean(),
  latencyMs: z.number(),
  firstByteMs: z.number().nullable(),
  overheadMs: z.number(),
  endReason: z.string(),
  usageSource: z.string(),
  cost: dollars,
  overHold: z.string().describe('By how much the charge exceeded the hold, dollars.'),
  flags: z.array(z.string()),
  priceVersion: z.string().nullable(),
  priceSince: moment
    .nullable()
    .describe('Since when the price that was charged had been in effect; null: none was.'),
  userAgent: z.string().nullable(),
  contentUntil: moment
    .nullable()
    .describe('Until when what it was asked and answered can be read; null: that is not kept.'),
  feedback: shownFeedback.nullable().describe('Whether its answer was any good; null: nothing was said.'),
  endUser: z.string().nullable().describe('The app’s own id of its user; null: none was recorded.'),
  tags: z
    .record(z.string(), z.string())
    .describe('What the call was for, by name; empty: nothing was recorded.'),
  usage: z.record(z.enum(usageClasses), z.number()),
  lines: z.array(chargeLine),
  attempts: z.array(shownAttempt),
  job: shownJob
    .nullable()
    .describe('The job that the call created; once it is settled, cost, usage and lines are the job’s.'),
  adjustment: z
    .object({ amount: dollars, settledAt: moment })
    .nullable()
    .describe(
      'Set if the call was charged by estimate and its stored response reported the usage later; cost, usage and lines are then by that report. Amount: charged in addition; negative if given back.',
    ),
});
export type CallDetail = z.output<typeof shownCall>;

/** Names of what a call row contains as ids. */
export interface CallNames {
  readonly workspaceSlug: string | null;
  readonly keyName: string | null;
  readonly playground: boolean;
  /** Until when its content can be read; null: it is not kept. */
  readonly contentUntil: Date | null;
  /** What was said about its answer. */
  readonly feedback: ShownFeedback | null;
  /** Whom it was for, its end user among them. */
  readonly tags: readonly Tag[];
  /** Since when prices are in effect, by their version. */
  readonly pricesSince: ReadonlyMap<string, Date>;
  /** Whether it is shown to an operator. */
  readonly toOperator: boolean;
}

/** The version of the price that a call or its job was charged at. */
export function priceVersionOf(
  call: Pick<Call, 'priceVersionId'>,
  job: Pick<Job, 'priceVersionId'> | null,
): string | null {
  return call.priceVersionId ?? job?.priceVersionId ?? null;
}

/**
 * A row of the log and its job as the console and the command line show them. A job's charge is shown with the
 * call that created it; the call itself costs nothing.
 */
export function callDetail(
  call: Call,
  job: Job | null,
  adjustment: Adjustment | null,
  names: CallNames,
): CallDetail {
  const used = job && job.usageSource !== 'none' ? job : call;
  const charged = [call.lines, job?.lines].flatMap(storedLines);
  const settledAt = adjustment?.settledAt ?? null;
  const priceVersion = priceVersionOf(call, job);
  const adjusted = settledAt === null ? null : adjustment;
  return {
    id: call.id,
    clientRequestId: call.clientRequestId,
    at: call.at.toISOString(),
    settledAt: call.settledAt.toISOString(),
    workspace: names.workspaceSlug ?? call.workspaceId,
    key: call.keyId,
    keyName: names.keyName,
    playground: names.playground,
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
    priceVersion,
    priceSince: (priceVersion && names.pricesSince.get(priceVersion)?.toISOString()) ?? null,
    userAgent: call.userAgent,
    contentUntil: names.contentUntil?.toISOString() ?? null,
    feedback: names.feedback,
    endUser: names.tags.find(({ name }) => name === endUserName)?.value ?? null,
    tags: Object.fromEntries(
      names.tags.flatMap(({ name, value }) => (name === endUserName ? [] : [[name, value]])),
    ),
    usage: storedUsage(adjusted ? adjusted.usage : used.usage),
    lines: adjusted ? storedLines(adjusted.lines) : charged,
    job: job ? jobDetail(job) : null,
    adjustment:
      adjusted && settledAt
        ? { amount: formatUsd(adjusted.amountNano), settledAt: settledAt.toISOString() }
        : null,
    attempts: storedAttempts(call.attempts, call).map(({ translatedTo = null, lost = [], ...one }) => ({
      ...one,
      credential: names.toOperator ? one.credential : null,
      translatedTo,
      lost: [...lost],
    })),
  };
}
